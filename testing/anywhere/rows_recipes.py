"""Rows of the recipes in docs/start/recipes.md: applications of other frameworks, with the agent and with a registry of their own, and
Tomcat with two web applications that have the starter.

Maven builds them with a local repository of their own, target/anywhere-m2, into which mallometer's artifacts are put as
mvn install would put them into the user's.
"""

import functools
import os
import re
import shutil
import threading
import zipfile

import observe
import workshop
from launch import Failed, Launch
from prepare import once
from row import Row

TOPIC = "recipe"
TOMCAT = "10.1.44"
BIND = "-Drecipe.bind=true"
COUNTS = "counts native memory"

DOCUMENTATION = "docs/start/recipes.md"

# Texts that differ between two starts of the same application.
VARIES = ((r"in \d+\.\d+s", "in some time"), (r"127\.0\.0\.1:\d+", "127.0.0.1:port"))
VARIES_IN_TOMCAT = (
    (r"^\S+ \S+ (INFO|WARNING|SEVERE) \[[^]]*\]", r"\1"),
    (r"in \[[\d,]+\] (ms|milliseconds)", "in some time"),
    (r"-auto-1-\d+", "-auto-1"),
    (r"/tomcat-base-\w+", "/tomcat-base"),
)

TOLERATED = {
    r" started a thread named \[JNA Cleaner\]": "Tomcat warns of JNA's thread, as docs/start/recipes.md says",
    r"^ (java\.base@\S+/java\.lang\.|com\.sun\.jna\.internal\.Cleaner)": "the stack of that thread",
}

ARTIFACTS = {
    "mallometer-parent": (".", ""),
    "mallometer-interposer": ("interposer", "interposer.jar"),
    "mallometer-metrics-bridge": ("metrics-bridge/core", "core.jar"),
}

# One Maven at a time writes into the repository.
BUILDING = threading.Lock()


def rows(context):
    shop = context.workshop
    jdk = context.jdks[17]
    yield from of_project(shop, jdk, "an application without a framework", "plain", ("-cp", "{}/classes:{}/lib/*", "recipe.App"))
    yield from of_project(shop, jdk, "Quarkus 3.27", "quarkus", ("-jar", "{}/quarkus-app/quarkus-run.jar"), "/q/metrics")
    yield from of_project(shop, jdk, "Micronaut 4.9", "micronaut", ("-cp", "{}/classes:{}/lib/*", "recipe.App"))
    yield tomcat(shop, jdk)


def of_project(shop, jdk, name, project, words, path=""):
    here = shop.here()
    target = f"{here.work}/recipes/{project}/target"
    words = tuple(word.replace("{}", target) for word in words)
    needs = once(functools.partial(build, shop, project))

    def java(*options):
        return Launch((jdk.java(), "-Xmx128m", *options, *words), shop.private(here), here)

    for how, preloaded, says, seen in (
        ("agent", java(shop.agent(here)), COUNTS, observe.agent()),
        ("its own registry", java(BIND), None, scraped(path)),
    ):
        yield Row(
            TOPIC,
            f"{name}, {how}",
            java(),
            preloaded.with_variables(**shop.preload(here)),
            says=says,
            observe=seen,
            replaces=VARIES,
            needs=(needs,),
        )


def scraped(path):
    """Reads the application's registry at the application's own address."""

    def seen(process):
        url = process.line(r"(?:observed: |Listening on: )(http://\S+)").group(1) + path
        process.wait_for(lambda: counting(url), "the registry has native_malloc_live_bytes")
        return "the registry counts"

    return seen


def counting(url):
    series = observe.get(url)
    return re.search(r"^native_malloc_live_bytes(\{[^}]*\})? [1-9]", series, re.M) and observe.counted(series)


def allocated(url):
    return float(re.search(r"^native_malloc_allocated_bytes_total(?:\{[^}]*\})? (\S+)", observe.get(url), re.M).group(1))


def build(shop, project):
    with BUILDING:
        repository = workshop.REPOSITORY / "target/anywhere-m2"
        version = re.search(r"<version>([^<]+)<", (workshop.REPOSITORY / "pom.xml").read_text()).group(1)
        for artifact, (directory, jar) in ARTIFACTS.items():
            place = repository / "io/mallometer" / artifact / version
            place.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(workshop.REPOSITORY / directory / "pom.xml", place / f"{artifact}-{version}.pom")
            if jar:
                shutil.copyfile(shop.work / "own" / jar, place / f"{artifact}-{version}.jar")
        copy = shop.work / "recipes" / project
        shutil.copytree(workshop.PROGRAMS / "recipes" / project, copy)
        workshop.run("mvn", "-B", "-q", "-ntp", "-f", copy, f"-Dmaven.repo.local={repository}", "package",
            env=os.environ | {"JAVA_HOME": str(shop.java_home)})  # fmt: skip


def tomcat(shop, jdk):
    here = shop.here()
    home = shop.work / "tomcat"

    def server(kind):
        # Tomcat writes to its base, so each process has a base of its own, which later processes use again.
        base = f"{shop.work}/tomcat-base-{kind}"
        script = f"rm -rf {base}; cp -r {shop.work}/tomcat-{kind} {base}; exec sh {home}/bin/catalina.sh run"
        variables = {"JAVA_HOME": jdk.home, "CATALINA_HOME": home, "CATALINA_BASE": base,
            "CATALINA_OPTS": "-Xmx192m -XX:TieredStopAtLevel=1"}  # fmt: skip
        return Launch(("sh", "-c", script), shop.private(here) | variables, here)

    return Row(
        TOPIC,
        f"Tomcat {TOMCAT} with the starter in two web applications, one of them undeployed",
        server("plain"),
        server("starter"),
        acts=undeploy_one,
        observe=two_applications,
        replaces=(*VARIES, *VARIES_IN_TOMCAT),
        tolerates=TOLERATED,
        needs=(once(functools.partial(make_tomcat, shop)),),
    )


def make_tomcat(shop):
    boot = shop.property("spring-boot-3.version")
    spring = shop.jars("recipe-tomcat", "org.springframework.boot:spring-boot-starter-web",
        "org.springframework.boot:spring-boot-starter-actuator", "io.micrometer:micrometer-registry-prometheus",
        bom=f"org.springframework.boot:spring-boot-dependencies:{boot}")  # fmt: skip
    home = shop.tomcat(TOMCAT)
    programs = workshop.PROGRAMS / "recipes/tomcat"
    javac = (shop.java_home / "bin/javac", "-nowarn", "-proc:none", "-d")
    workshop.run(*javac, shop.work / "tomcat-listener", "-cp", f"{home}/lib/catalina.jar", programs / "InTomcat.java")
    workshop.run(*javac, shop.work / "tomcat-classes", "-cp", f"{spring}/*", programs / "WebApp.java")
    shutil.copy(programs / "application.properties", shop.work / "tomcat-classes")
    jars = [jar for jar in spring.glob("*.jar") if not jar.name.startswith("tomcat-embed-")]
    own = [*(shop.work / "own").glob("*.jar"), *shop.jna().glob("*.jar")]
    for kind, more in (("plain", []), ("starter", own)):
        base = shop.work / f"tomcat-{kind}"
        (base / "webapps").mkdir(parents=True)
        for directory in ("temp", "bin"):
            (base / directory).mkdir()
        shutil.copytree(shop.work / "tomcat-listener", base / "lib")
        shutil.copytree(home / "conf", base / "conf")
        shutil.copy(programs / "server.xml", base / "conf")
        for name in ("one", "two"):
            with zipfile.ZipFile(base / "webapps" / f"{name}.war", "w") as war:
                for jar in jars + more:
                    war.write(jar, f"WEB-INF/lib/{jar.name}")
                for file in (shop.work / "tomcat-classes").rglob("*.*"):
                    war.write(file, f"WEB-INF/classes/{file.relative_to(shop.work / 'tomcat-classes')}")
    (shop.work / "tomcat-starter/bin/setenv.sh").write_text(documented_setenv(shop))


def documented_setenv(shop):
    """Returns what the recipe says to write into bin/setenv.sh."""
    documented = (workshop.REPOSITORY / DOCUMENTATION).read_text()
    found = re.search(r"`bin/setenv\.sh`:\n\n((?: {4}.*\n)+)", documented)
    if not found:
        raise Failed(f"{DOCUMENTATION} does not say what to write into bin/setenv.sh")
    return re.sub(r"^ {4}", "", found.group(1), flags=re.M).replace("LIB", f"{shop.work}/libmallometer.so")


def ask(process):
    """Reads Tomcat's port, its applications, and the MBeans of mallometer."""
    process.lines["output"] = [line for line in process.lines["output"] if not line.startswith("observed: ")]
    process.say("observe")
    line = process.wait_for(lambda: process.line(r"^observed: port=(\d+) applications=\[(.*)\] beans=\[(.*)\]"), "an answer")
    return line.group(1), line.group(2).split(", "), line.group(3)


def undeploy_one(process):
    process.say("undeploy one")
    process.wait_for(lambda: ask(process)[1] == ["two"], "one is undeployed")


def two_applications(process):
    """Checks that both applications count, that one continues when the other is gone, and that each MBean always exists exactly once."""
    port, applications, beans = ask(process)
    if applications != ["one", "two"]:
        raise Failed(f"there are {applications}")
    for name in applications:
        url = f"http://127.0.0.1:{port}/{name}/actuator/prometheus"
        process.wait_for(lambda url=url: counting(url), f"{name} counts")
    if beans != "Allocator, CallSites, Diagnosis, LeakDetector, NativeMemory":
        raise Failed(f"the MBeans are {beans}")
    undeploy_one(process)
    before = allocated(url)
    process.wait_for(lambda: allocated(url) > before, "two goes on counting")
    afterwards = ask(process)[2]
    if afterwards != beans:
        raise Failed(f"afterwards the MBeans are {afterwards}")
    return "both count, and one after the other is undeployed"
