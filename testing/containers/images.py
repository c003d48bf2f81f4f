"""Makes the images that the repository's files name, some of which are stand-ins.

No image registry is used. A stand-in has the name that the file has, and Debian's packages in it: it proves that the files fit together,
not how the real image behaves. The images that the repository builds are real, on such a base.
"""

import pathlib
import shutil
import subprocess

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
# The modules of a JRE of Temurin, as far as the demo needs them; jdk.attach and jdk.jcmd are not among them.
MODULES = (
    "java.se,jdk.charsets,jdk.crypto.ec,jdk.httpserver,jdk.jfr,jdk.localedata,jdk.management,jdk.management.agent,jdk.naming.dns,"
    "jdk.net,jdk.nio.mapmode,jdk.security.auth,jdk.unsupported,jdk.xml.dom,jdk.zipfs"
)
JDK_PATH = "ENV PATH=/opt/java/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"

# The stand-ins: image, Dockerfile, and what it contains.
BUILD_IMAGE = "debian:12"
STAND_INS = {
    "eclipse-temurin:25": (
        f"FROM debian-base\nCOPY --from=jdk . /opt/java\n{JDK_PATH}",
        "Debian 12 with this machine's Temurin 25",
    ),
    "eclipse-temurin:25-jre": (
        f"FROM debian-base\nCOPY --from=jre . /opt/java\n{JDK_PATH}",
        "Debian 12 with a JRE that jlink made of this machine's Temurin 25, without jdk.attach",
    ),
    "prom/prometheus:v3.13.2": (
        'FROM debian-base\nRUN install -d -o nobody -g nogroup /prometheus\nUSER nobody\nENTRYPOINT ["prometheus"]\n'
        'CMD ["--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"]\n',
        "Debian 12's prometheus",
    ),
    "prom/alertmanager:v0.30.1": (
        'FROM debian-base\nRUN install -d -o nobody -g nogroup /alertmanager\nUSER nobody\nENTRYPOINT ["prometheus-alertmanager"]\n'
        'CMD ["--config.file=/etc/alertmanager/alertmanager.yml", "--storage.path=/alertmanager"]\n',
        "Debian 12's prometheus-alertmanager",
    ),
    "grafana/grafana:13.1.3": (
        "FROM debian-base\nRUN install -d /srv/api && echo ok >/srv/api/health\nUSER 472\n"
        'ENTRYPOINT ["busybox", "httpd", "-f", "-p", "3000", "-h", "/srv"]\n',
        "a server that answers Grafana's health check and holds the files that Grafana would read",
    ),
    "distroless/java:25": (
        "FROM debian-base AS files\n"
        "RUN mkdir /out && cp --parents /lib64/ld-linux-x86-64.so.2 /lib/x86_64-linux-gnu/lib[cm].so.6 /lib/x86_64-linux-gnu/libdl.so.2"
        " /lib/x86_64-linux-gnu/libpthread.so.0 /lib/x86_64-linux-gnu/librt.so.1 /etc/passwd /out\n"
        "FROM scratch\nCOPY --from=files /out /\nCOPY --from=jre . /opt/java\nUSER 65532\nENTRYPOINT [\"/opt/java/bin/java\", \"-jar\"]\n",
        "the C library's files and the JRE above, no shell and no package manager, in place of gcr.io/distroless/java25",
    ),
}


def clone(engine):
    """Clones the last commit, so that what is built is what is committed."""
    directory = engine.scratch / "repository"
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", REPOSITORY, directory], check=True)
    return directory


def base(engine, root):
    """Makes debian:12 with the packages that the Dockerfiles install, and with Maven's repository of this user."""
    engine.import_root("debian-base", root)
    directory = engine.scratch / "base"
    directory.mkdir()
    libraries = directory / "libraries"
    kept = shutil.ignore_patterns("mallometer*", "*.lastUpdated")
    shutil.copytree(pathlib.Path.home() / ".m2/repository", libraries, ignore=kept)
    (directory / "settings.xml").write_text("<settings><offline>true</offline></settings>\n")
    (directory / "Dockerfile").write_text(
        "FROM debian-base\nRUN rm -f /etc/apt/sources.list /etc/apt/sources.list.d/*\n"
        "COPY settings.xml /root/.m2/settings.xml\nCOPY libraries /root/.m2/repository\n"
    )
    engine.build(BUILD_IMAGE, directory)
    shutil.rmtree(directory)


def stand_ins(engine, jdk):
    """Makes the other images that the files name."""
    jdk_directory, jre = engine.scratch / "jdk", engine.scratch / "jre"
    shutil.copytree(jdk, jdk_directory, symlinks=True)
    subprocess.run([f"{jdk}/bin/jlink", "--add-modules", MODULES, "--strip-debug", "--no-man-pages", "--output", jre], check=True)
    for image, (dockerfile, _) in STAND_INS.items():
        directory = engine.scratch / "stand-in"
        directory.mkdir()
        (directory / "Dockerfile").write_text(dockerfile)
        engine.build(image, directory, jdk=jdk_directory, jre=jre)
        shutil.rmtree(directory)
    shutil.rmtree(jdk_directory)
    shutil.rmtree(jre)
