"""Tests images without a preload: an application that has the starter as its only dependency on mallometer, under hard limits."""

import json

from demo import get, wait_until

CONFINED = ("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", "12345:12345", "-m", "256m", "--memory-swap", "256m")
PORT = 18081
SECONDS = 300
OF_THE_DEMO = "mallometer-app"

ON_JRE = f"""FROM {OF_THE_DEMO} AS demo
FROM eclipse-temurin:25-jre
COPY --from=demo /opt/mallometer/leaky-service.jar /opt/app.jar
ENV SERVER_ADDRESS=0.0.0.0
ENTRYPOINT ["java", "-Xmx96m", "-jar", "/opt/app.jar"]
"""
ON_DISTROLESS = f"""FROM {OF_THE_DEMO} AS demo
FROM distroless/java:25
COPY --from=demo /opt/mallometer/leaky-service.jar /opt/app.jar
ENV SERVER_ADDRESS=0.0.0.0 JAVA_TOOL_OPTIONS=-Xmx96m
CMD ["/opt/app.jar"]
"""


class Ordinary:
    """Starts such images, one at a time, and returns what the service says about the counting."""

    def __init__(self, engine):
        self._engine = engine
        for image, dockerfile in ("ordinary", ON_JRE), ("ordinary-distroless", ON_DISTROLESS):
            directory = engine.scratch / image
            directory.mkdir()
            (directory / "Dockerfile").write_text(dockerfile)
            engine.build(image, directory)

    def counts(self, image, *options):
        """Checks that the library is attached and counts, under the kernel's limit."""
        container = self._engine.docker("run", "-d", *CONFINED, *options, "-p", f"127.0.0.1:{PORT}:18080", image).strip()
        seen = {}

        def is_active():
            seen.update(json.loads(get(f"http://127.0.0.1:{PORT}/actuator/nativememory"))["status"])
            return seen["state"] == "ACTIVE"

        try:
            wait_until(is_active, SECONDS, f"{image} {' '.join(options)}")
            if "UP" not in get(f"http://127.0.0.1:{PORT}/actuator/health/ping"):
                raise AssertionError("the service is not up")
            return f"{seen['state']}, {seen['reason']}"
        except AssertionError as failed:
            raise AssertionError(f"{failed}; {seen}; log: {self._log(container)[-1500:]}") from failed
        finally:
            self._engine.docker("rm", "-f", container)

    def _log(self, container):
        done = self._engine.run("logs", container)
        return done.stdout + done.stderr

