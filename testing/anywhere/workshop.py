"""Makes what the rows run: mallometer's own files as the build left them, small programs compiled here, and jars from Maven.

Everything is in one directory, target/anywhere, so that a confined process can be given only that directory.
"""

import functools
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading

import places
from launch import Failed
from launch import Launch

REPOSITORY = places.REPOSITORY
PROGRAMS = places.PROGRAMS
CRAC = REPOSITORY / "metrics-bridge/core/src/test/java/jdk/crac"

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>io.mallometer.anywhere</groupId>
  <artifactId>jars</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencyManagement><dependencies>{imported}</dependencies></dependencyManagement>
  <dependencies>{dependencies}</dependencies>
</project>
"""


PROJECT = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>io.mallometer.anywhere</groupId>
  <artifactId>project</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.release>8</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <build><plugins>
    <plugin><artifactId>maven-resources-plugin</artifactId><version>{resources}</version></plugin>
    <plugin><artifactId>maven-compiler-plugin</artifactId><version>{compiler}</version></plugin>
  </plugins></build>
</project>
"""

# Options with which two runs of a Spring application print the same.
QUIET = (
    "-Dlogging.pattern.console=%p %c %m%n",
    "-Dspring.main.banner-mode=off",
    "-Dspring.main.log-startup-info=false",
    "-Dserver.port=0",
)


def boot_directory(version, tests=False):
    return f"boot-{version}" + ("-tests" if tests else "")


def dependency(coordinates, extra=""):
    group, artifact, *version = coordinates.split(":")
    versions = "".join(f"<version>{each}</version>" for each in version)
    return f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>{versions}{extra}</dependency>"


def run(*command, **options):
    """Runs a tool of the build."""
    done = subprocess.run(
        [str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, **options
    )
    if done.returncode != 0:
        raise Failed(f"{command[0]} failed:\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


class Workshop:
    """Makes what is requested once. The jars from Maven are kept for the next run; everything else is made anew."""

    def __init__(self, java_home):
        self.java_home = pathlib.Path(java_home)
        # The compiler itself is compiled by C1 only, because it runs for a second. The directory of the classes follows.
        self._javac = (self.java_home / "bin/javac", "-J-XX:TieredStopAtLevel=1", "-nowarn", "-Xlint:-options", "-d")
        self.work = REPOSITORY / "target/anywhere"
        self._kept = REPOSITORY / "target/anywhere-jars"
        self._parent = (REPOSITORY / "pom.xml").read_text()
        self._lock = threading.RLock()

    def clear(self):
        shutil.rmtree(self.work, ignore_errors=True)

    def prepare(self):
        self.clear()
        for directory in ("root", "cache", "own", "classes"):
            (self.work / directory).mkdir(parents=True)
        self._kept.mkdir(parents=True, exist_ok=True)
        # The directory is readable by all, because confined processes of any user read it.
        os.chmod(self.work, 0o755)
        for target, names in {
            "libmallometer.so": "interposer/target/native/linux-x86-64/libmallometer.so",
            "mallometer-agent.jar": "metrics-bridge/agent/target/mallometer-agent.jar",
            "own/interposer.jar": "interposer/target/mallometer-interposer-*-SNAPSHOT.jar",
            "own/core.jar": "metrics-bridge/core/target/mallometer-metrics-bridge-*-SNAPSHOT.jar",
            "own/starter.jar": "spring-starter/target/mallometer-spring-boot-starter-*-SNAPSHOT.jar",
        }.items():
            found = list(REPOSITORY.glob(names))
            if len(found) != 1:
                raise Failed(f"{names} is not there; build first: mvn package -DskipTests")
            shutil.copyfile(found[0], self.work / target)
        os.chmod(self.work / "libmallometer.so", 0o755)
        shutil.copytree(PROGRAMS, self.work / "programs")
        run("gcc", "-O1", "-Wall", "-o", self.work / "sandbox", PROGRAMS / "sandbox.c")
        self.probe(REPOSITORY / "interposer/include/mallometer.h", self.work / "probe.so")
        javac = (*self._javac, self.work / "classes")
        run(*javac, "--release", "8", PROGRAMS / "Work.java")
        run(*javac, "--release", "17", "-cp", self.work / "own/core.jar", PROGRAMS / "Bridge.java")
        run(*self._javac, self.work / "crac", "--release", "17", *CRAC.glob("*.java"))
        run(*javac, "--release", "17", "-cp", self.work / "crac", PROGRAMS / "Checkpointed.java")

    def crac(self, place):
        """Returns the option that gives a program the interface of CRaC that the bridge's tests have."""
        return f"-Xbootclasspath/a:{place.work}/crac"

    def probe(self, header, target):
        """Returns the library that reports at a program's end what was counted, compiled with a version's mallometer.h."""
        run("gcc", "-O1", "-Wall", "-D_GNU_SOURCE", "-shared", "-fPIC", "-include", header, "-I", REPOSITORY / "interposer/include",
            "-o", target, PROGRAMS / "probe.c")  # fmt: skip

    def app(self):
        """Returns the classes of the Spring application, which any Spring Boot runs."""
        self._compile("app", "8", self.boot(self.newest_boot()), PROGRAMS / "anywhere/App.java")

    def app_tests(self):
        """Returns the classes of the application's tests."""
        self.app()
        jars = self.boot(self.newest_boot(), tests=True)
        self._compile("app-tests", "17", f"{self.work}/app:{jars}", PROGRAMS / "anywhere/AppTest.java")

    def _compile(self, name, release, class_path, source):
        with self._lock:
            if not (self.work / name).exists():
                run(*self._javac, self.work / name, "--release", release, "-cp", f"{class_path}/*", source)

    def property(self, name):
        """Returns a version that the parent pom has as a property."""
        return re.search(f"<{re.escape(name)}>([^<]+)<", self._parent).group(1)

    def _plugin(self, name):
        return re.search(rf"<artifactId>{name}</artifactId>\s*<version>([^<]+)<", self._parent).group(1)

    def newest_boot(self):
        return self.property("spring-boot-4.version")

    def boot(self, version, tests=False):
        """Returns the jars of a web application of a Spring Boot with the Actuator, and of its tests if requested."""
        boot = "org.springframework.boot:spring-boot-starter"
        of_tests = (f"{boot}-test", "org.junit.platform:junit-platform-console") if tests else ()
        return self.jars(
            boot_directory(version, tests),
            f"{boot}-web",
            f"{boot}-actuator",
            *of_tests,
            bom=f"org.springframework.boot:spring-boot-dependencies:{version}",
        )

    def jna(self):
        return self.jars("jna", f"net.java.dev.jna:jna:{self.property('jna.version')}")

    def jars(self, name, *coordinates, bom=""):
        """Returns a directory with these jars and what they need, in the work directory; it is resolved once and kept."""
        imported = dependency(bom, "<type>pom</type><scope>import</scope>") if bom else ""
        pom = POM.format(imported=imported, dependencies="".join(map(dependency, coordinates)))
        kept = self._kept / f"{name}-{hashlib.sha256(pom.encode()).hexdigest()[:16]}"
        with self._lock:
            if not kept.is_dir():
                with tempfile.TemporaryDirectory(dir=self._kept) as directory:
                    file = pathlib.Path(directory, "pom.xml")
                    file.write_text(pom)
                    plugin = f"org.apache.maven.plugins:maven-dependency-plugin:{self._plugin('maven-dependency-plugin')}"
                    self._maven(file, f"{plugin}:copy-dependencies", f"-DoutputDirectory={directory}/jars",
                                "-DincludeScope=runtime")  # fmt: skip
                    os.chmod(f"{directory}/jars", 0o755)
                    os.rename(f"{directory}/jars", kept)
            if not (self.work / name).exists():
                shutil.copytree(kept, self.work / name, copy_function=os.link)
            return self.work / name

    def _maven(self, pom, *words):
        run("mvn", "-B", "-q", "-ntp", "-f", pom, *words, env=os.environ | {"JAVA_HOME": str(self.java_home)})

    def maven_project(self):
        """Returns a project with the plugins of this one, which is compiled once so that Maven can do it again without a network."""
        project = self.work / "maven-project"
        with self._lock:
            if project.exists():
                return
            (project / "src/main/java").mkdir(parents=True)
            shutil.copyfile(PROGRAMS / "Work.java", project / "src/main/java/Work.java")
            versions = {name: self._plugin(f"maven-{name}-plugin") for name in ("resources", "compiler")}
            (project / "pom.xml").write_text(PROJECT.format(**versions))
            self._maven(project, "compile")
            shutil.rmtree(project / "target")

    def tomcat(self, version):
        """Returns the home of a Tomcat, unpacked from its distribution."""
        with self._lock:
            kept = self._kept / f"tomcat-{version}"
            if not kept.is_dir():
                with tempfile.TemporaryDirectory(dir=self._kept) as directory:
                    plugin = f"org.apache.maven.plugins:maven-dependency-plugin:{self._plugin('maven-dependency-plugin')}"
                    run("mvn", "-B", "-q", "-ntp", f"{plugin}:unpack", f"-Dartifact=org.apache.tomcat:tomcat:{version}:zip",
                        f"-DoutputDirectory={directory}", cwd=directory,
                        env=os.environ | {"JAVA_HOME": str(self.java_home)})  # fmt: skip
                    os.rename(next(pathlib.Path(directory).glob("apache-tomcat-*")), kept)
            if not (self.work / "tomcat").exists():
                shutil.copytree(kept, self.work / "tomcat")
            return self.work / "tomcat"

    # ---- Combinations of these, as a process at some place sees them

    def here(self):
        return places.Here(str(self.work))

    def confined(self, jdk, *features, **more):
        """Returns a place that has this JDK."""
        bound = () if jdk.home.startswith("/usr/") else (f"bind={jdk.home}",)
        return places.Confined(str(self.work), features + bound, **more)

    def preload(self, place):
        return {"LD_PRELOAD": f"{place.work}/libmallometer.so"}

    def probed(self, place):
        """Returns the library followed by the probe, for LD_PRELOAD."""
        return {"LD_PRELOAD": f"{place.work}/libmallometer.so:{place.work}/probe.so"}

    def agent(self, place, options="port=0"):
        return f"-javaagent:{place.work}/mallometer-agent.jar{options and '='}{options}"

    def script(self, text, place, **variables):
        """Returns a launch of a shell script."""
        return Launch(("/bin/sh", "-c", text), variables, place)

    def java(self, jdk, place, *words):
        """Returns a launch of a program without a framework: words are options, the main class and arguments."""
        return Launch((jdk.java(), "-Xmx64m", "-cp", f"{place.work}/classes", *words), self.private(place), place)

    def bridge(self, jdk, place, opens, *words):
        """Returns a launch of a program that opens the bridge itself if `opens`, and logs its status."""
        class_path = f"{place.work}/classes:{place.work}/own/*:{place.work}/jna/*"
        command = (jdk.java(), "-Xmx64m", "-cp", class_path, *words, "Bridge", *(("open",) if opens else ()))
        return Launch(command, self.private(place), place, (self.jna,))

    def spring(self, jdk, place, boot, starter, *words):
        """Returns a launch of the Spring application: words are options of the JVM."""
        needs = (self.app, functools.partial(self.boot, boot))
        return self._spring(jdk, place, starter, words, ["app", boot_directory(boot) + "/*"], ("anywhere.App",), needs)

    def spring_tests(self, jdk, place, starter, *words):
        """Returns a launch of the tests of the Spring application, on the newest Spring Boot."""
        directories = ["app", "app-tests", boot_directory(self.newest_boot(), tests=True) + "/*"]
        main = ("org.junit.platform.console.ConsoleLauncher", "execute", "--disable-banner", "--disable-ansi-colors",
                "--select-class", "anywhere.AppTest")  # fmt: skip
        return self._spring(jdk, place, starter, words, directories, main, (self.app_tests,))

    def _spring(self, jdk, place, starter, words, directories, main, needs):
        if starter:
            directories = directories + ["own/*", "jna/*"]
            needs += (self.jna,)
        class_path = ":".join(f"{place.work}/{directory}" for directory in directories)
        options = ("-Xmx128m", "-XX:TieredStopAtLevel=1", *words, *QUIET, "-cp", class_path)
        return Launch((jdk.java(), *options, *main), self.private(place), place, needs)

    def private(self, place):
        """Returns options with which nothing is unpacked into the directories of the user who runs this."""
        if isinstance(place, places.Confined):
            return {}
        return {"XDG_CACHE_HOME": f"{place.work}/cache"}
