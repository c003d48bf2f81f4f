"""Runs the ways to add mallometer to an existing image, each as docs/start/docker.md shows it."""

import pathlib
import subprocess

from record import Recipe

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
APPLICATION = REPOSITORY / "samples/leaky-service/e2e/Grow.java"
MALLOMETER = "mallometer:0.1.0"
SECONDS = 300
COUNTS = "counts native memory"
REFUSED = "no suitable directory"

SHOP = """FROM {base}
COPY shop.jar /opt/shop/shop.jar
RUN install -d -o 12345 -m 700 /record
USER 12345
ENTRYPOINT ["java", "-Xmx64m", "-jar", "/opt/shop/shop.jar"]
"""
COUNTED = """FROM shop
COPY --from=mallometer:0.1.0 /opt/mallometer /opt/mallometer
ENV LD_PRELOAD=/opt/mallometer/libmallometer.so \\
    MALLOMETER_ONLY=java \\
    JAVA_TOOL_OPTIONS=-javaagent:/opt/mallometer/mallometer-agent.jar=port=9464,host=0.0.0.0
"""
COMPOSE = """services:
  shop:
    image: shop
    environment:
      JAVA_TOOL_OPTIONS: -javaagent:/mallometer/mallometer-agent.jar=port=9464,host=0.0.0.0,recording=/record/recording
    volumes:
      - mallometer:/mallometer:ro
      - record:/record
    ports:
      - '127.0.0.1:9464:9464'
    read_only: true
    cap_drop:
      - ALL
    mem_limit: 256m
    tmpfs:
      - /tmp:exec
volumes:
  mallometer:
    external: true
  record:
"""
AGENT = "-javaagent:/mallometer/mallometer-agent.jar=port=9464,host=0.0.0.0"
PRELOADED = f"-e LD_PRELOAD=/mallometer/libmallometer.so -e MALLOMETER_ONLY=java -e JAVA_TOOL_OPTIONS={AGENT}"
METRICS = "curl -s http://127.0.0.1:9464/metrics | grep ^mallometer_build_info"


def mallometer(engine, repository, file):
    """Builds the image of mallometer."""
    engine.build(MALLOMETER, str(repository), file)
    return file


def applications(engine, java_home):
    """Makes the images shop, on a JRE, and shop-jdk, on a JDK: an application that knows nothing of mallometer."""
    directory = engine.scratch / "shop"
    classes = directory / "classes"
    classes.mkdir(parents=True)
    subprocess.run([f"{java_home}/bin/javac", "--release", "17", "-d", classes, APPLICATION], check=True)
    subprocess.run([f"{java_home}/bin/jar", "--create", "--file", directory / "shop.jar", "--main-class", "Grow", "-C", classes, "."], check=True)
    for name, base in ("shop", "eclipse-temurin:25-jre"), ("shop-jdk", "eclipse-temurin:25"):
        (directory / "Dockerfile").write_text(SHOP.format(base=base))
        engine.build(name, directory)
    return "images shop (JRE) and shop-jdk of a jar without mallometer"


class Recipes:
    """Each method is a recipe and returns what the check of its name shows; it removes its containers."""

    def __init__(self, engine, record, java_home):
        self._engine, self._record, self._java_home = engine, record, java_home
        self._directory = engine.scratch / "recipes"
        self._directory.mkdir()

    def _recipe(self, title):
        return Recipe(self._engine, self._directory, self._java_home, title)

    def _ended(self, recipe, *containers):
        self._engine.docker("rm", "-f", *containers)
        self._record.recipe(recipe)

    def copied_into_the_image(self):
        recipe = self._recipe("An image that exists, by COPY --from")
        recipe.file("Dockerfile", COUNTED)
        recipe.run("docker build -q -t shop-counted .", shown=False)
        recipe.run("docker run -d --name shop -p 127.0.0.1:9464:9464 shop-counted", shown=False)
        said = recipe.run("docker logs shop", COUNTS, SECONDS)
        recipe.run(METRICS, 'mode="preloaded"', SECONDS)
        self._ended(recipe, "shop")
        return line_of(said)

    def mounted_volume(self):
        recipe = self._recipe("An image that exists, by a volume")
        recipe.run(f"docker run --rm --user 0 -v mallometer:/mallometer {MALLOMETER}", "are in /mallometer")
        recipe.run(f"docker run -d --name shop -p 127.0.0.1:9464:9464 -v mallometer:/mallometer:ro {PRELOADED} shop", shown=False)
        said = recipe.run("docker logs shop", COUNTS, SECONDS)
        recipe.run(METRICS, 'mode="preloaded"', SECONDS)
        self._ended(recipe, "shop")
        return line_of(said)

    def compose_file(self):
        recipe = self._recipe("A compose file: read-only root, an executable /tmp, a volume for the recording")
        recipe.file("compose.yml", COMPOSE)
        recipe.run("docker compose -p shop -f compose.yml up -d", shown=False)
        said = recipe.run("docker compose -p shop -f compose.yml logs --no-log-prefix shop", COUNTS, SECONDS)
        recipe.run(METRICS, 'mode="attached"', SECONDS)
        recipe.run("docker compose -p shop -f compose.yml exec shop ls -l /record", "recording")
        recipe.run(
            "docker compose -p shop -f compose.yml exec -e JAVA_TOOL_OPTIONS= shop"
            " java -jar /mallometer/mallometer-agent.jar report http://127.0.0.1:9464",
            "Resident",
            SECONDS,
        )
        recipe.run("docker compose -p shop -f compose.yml down -v", shown=False)
        self._record.recipe(recipe)
        return line_of(said)

    def termination_message(self):
        recipe = self._recipe("A termination message, in the file that a kubelet mounts, after a kill at the limit")
        file = self._directory / "termination-log"
        file.touch()
        file.chmod(0o666)
        recipe.run(
            "docker run -d --name shop --read-only --tmpfs /tmp:exec --cap-drop ALL --user 23456 -m 256m --memory-swap 256m"
            f" -v {file}:/dev/termination-log -v mallometer:/mallometer:ro -e JAVA_TOOL_OPTIONS={AGENT} shop 20",
            shown=False,
        )
        recipe.run("docker inspect -f {{.State.OOMKilled}}{{.State.ExitCode}} shop", "true137", SECONDS)
        said = recipe.run("cat termination-log", "Grow.main (Grow.java:")
        self._ended(recipe, "shop")
        return said.strip()

    def noexec(self):
        recipe = self._recipe("A /tmp that is noexec, as --tmpfs makes it: the application runs, and the agent says what to do")
        recipe.run(f"docker run -d --name shop --read-only --tmpfs /tmp -v mallometer:/mallometer:ro -e JAVA_TOOL_OPTIONS={AGENT} shop", shown=False)
        said = recipe.run("docker logs shop", REFUSED, SECONDS)
        if recipe.run("docker inspect -f {{.State.Running}} shop").strip() != "true":
            raise AssertionError("the application ended")
        self._ended(recipe, "shop")
        return line_of(said, REFUSED)

    def executed_in_the_container(self):
        recipe = self._recipe("A container that runs, on a JDK: docker exec")
        recipe.run(f"docker create --name files {MALLOMETER}", shown=False)
        recipe.run("docker cp files:/opt/mallometer/mallometer-agent.jar .", shown=False)
        recipe.run("docker run -d --name shop shop-jdk", shown=False)
        recipe.run("docker cp mallometer-agent.jar shop:/tmp/", shown=False)
        said = recipe.run("docker exec shop java -jar /tmp/mallometer-agent.jar attach 1", COUNTS, SECONDS)
        recipe.run("docker exec shop java -jar /tmp/mallometer-agent.jar doctor 1", "ok   counting")
        self._ended(recipe, "shop", "files")
        return line_of(said)

    def beside_the_container(self):
        recipe = self._recipe("A container that runs, on a JRE: a process beside it, as kubectl debug --target starts one")
        recipe.run("docker run -d --name shop --cap-drop ALL shop", shown=False)
        said = recipe.run(
            "docker run --rm --pid container:shop --user 12345 --cap-drop ALL -v mallometer:/mallometer:ro eclipse-temurin:25"
            " java -jar /mallometer/mallometer-agent.jar attach 1",
            COUNTS,
            SECONDS,
        )
        self._ended(recipe, "shop")
        return line_of(said)

    def from_the_host(self):
        recipe = self._recipe("A container that runs, on a JRE: from the host, as root")
        recipe.run("docker run -d --name shop --cap-drop ALL shop", shown=False)
        pid = recipe.run("docker inspect -f {{.State.Pid}} shop").strip()
        said = recipe.run(f"java -jar mallometer-agent.jar attach {pid}", COUNTS, SECONDS)
        recipe.run(f"java -jar mallometer-agent.jar detach {pid}", "detached", SECONDS)
        self._ended(recipe, "shop")
        return line_of(said)


def line_of(output, words=COUNTS):
    """Returns the line that says that mallometer counts, or another line."""
    return next(line for line in output.splitlines() if words in line)
