"""A container whose environment gives the library and the agent to every program: namespaces for mounts, processes and
the network, so that port 9464 is free for the first JVM and taken for the next. No container engine is asked.
"""

import os
import pathlib

from row import Row

TOPIC = "container"
NAMESPACES = ("--mount", "--pid", "--fork", "--kill-child", "--net", "--ipc", "--uts")

COUNTS = r"counts native memory .*; http://127\.0\.0\.1:9464/metrics"
TAKEN = r"counts native memory .*; cannot serve metrics on 127\.0\.0\.1:9464: .*; choose another port, or port=0 for any"

KEYTOOL = """
cd /tmp
{bin}/keytool -genkeypair -alias a -keyalg EC -keystore store -storepass changeit -dname CN=a
{bin}/keytool -list -keystore store -storepass changeit
"""

# A program of a container is a JVM that goes on, and jcmd asks it.
JCMD = """
mkfifo /tmp/input
{bin}/java -cp {work}/classes Work </tmp/input >/tmp/output 2>&1 &
exec 3>/tmp/input
until grep -q ready /tmp/output; do sleep 0.1; done
{bin}/jcmd Work VM.version
{bin}/jcmd Work Thread.print | grep -c '"main"'
exec 3>&-
wait $!
code=$?
grep -v -e mallometer -e JAVA_TOOL_OPTIONS /tmp/output
exit $code
"""

JSHELL = """
cd /tmp
echo 'System.out.println(6 * 7)' | {bin}/jshell -s -
"""

JAVAC = """
cd /tmp
{bin}/javac -d classes {work}/programs/Work.java && ls classes
{bin}/javac {work}/programs/probe.c
"""

MAVEN = """
set -e
cp -r {work}/maven-project /tmp/project
cd /tmp/project
{maven} compile && ls target/classes
{maven} no-such-phase | grep -c ERROR
"""

SHELL = """
cd /tmp
for i in 1 2 3; do echo $i; done | sort -r | tr '\\n' ' '
(ls / | grep -c usr) && awk 'BEGIN {{ print 6 * 7 }}' && exit 5
"""

# The first JVM of the container has the port until the second one has said that it cannot have it.
SECOND_JVM = """
mkfifo /tmp/first
{bin}/java -cp {work}/classes Work </tmp/first >/tmp/output 2>&1 &
exec 3>/tmp/first
until grep -q "$AWAITED" /tmp/output; do sleep 0.1; done
exec {bin}/java -cp {work}/classes Work
"""


def rows(context):
    workshop = context.workshop
    jdk = context.jdks[17]
    repository = pathlib.Path(os.environ.get("HOME", "/root"), ".m2")
    place = workshop.confined(jdk, "loopback", f"bind={repository}", namespaces=NAMESPACES)

    def script(text):
        maven = f"mvn -B -o -q -Dmaven.repo.local={repository}/repository"
        words = {"bin": f"{jdk.home}/bin", "work": place.work, "maven": maven}
        return workshop.script(text.format(**words), place, JAVA_HOME=jdk.home)

    def injected(launch, **more):
        return launch.with_variables(
            LD_PRELOAD=f"{place.work}/libmallometer.so:{place.work}/probe.so",
            JAVA_TOOL_OPTIONS=workshop.agent(place, "port=9464"),
            **more,
        )

    def row(name, text, counts, processes, **more):
        plain = script(text)
        return Row(
            TOPIC,
            name,
            plain,
            injected(plain),
            says=f"{COUNTS}|{TAKEN}" if processes else None,
            may_be_silent=True,
            processes=processes,
            waits=False,
            counts=counts,
            **({"exit_code": 0} | more),
        )

    key, time = r"[0-9A-F:]{59,}", r"\w{3} \d+, \d{4}[ \d:APM]*"
    yield row("keytool", KEYTOOL, ("keytool",), 2, replaces=((key, "key"), (time, "time")), quick=True)
    yield row("jcmd, of a JVM in the container", JCMD, ("java", "jcmd"), 2, exit_code=7)
    yield row("jshell", JSHELL, ("jshell",), 2, replaces=((time, "time"),))
    yield row("javac", JAVAC, ("javac",), 2, exit_code=2)
    yield row("Maven", MAVEN, ("java", "cp"), 2, needs=(workshop.maven_project,), compares_starts=False)
    yield row("a shell", SHELL, ("sort", "tr", "ls", "grep"), 0, exit_code=5)
    plain = script(SECOND_JVM).with_variables(AWAITED="ready")
    yield Row(TOPIC, "a second JVM", plain, injected(plain).with_variables(AWAITED=":9464/metrics"), says=TAKEN, quick=True)
