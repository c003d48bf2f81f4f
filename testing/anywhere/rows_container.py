"""A container whose environment gives the library and the agent to every program: namespaces for mounts, processes and the network, so that
port 9464 is free for the first JVM and taken for the next. No container engine is used.
"""

import os
import pathlib

from row import BRIEF, LASTING, NEXT_JVM, Row

TOPIC = "container"
NAMESPACES = ("--mount", "--pid", "--fork", "--kill-child", "--net", "--ipc", "--uts")

COUNTS = r"counts native memory .*; http://127\.0\.0\.1:9464/metrics"
TAKEN = r"counts native memory .*; cannot serve metrics on 127\.0\.0\.1:9464: .*; choose another port, or port=0 for any"

KEYTOOL = """
cd /tmp
{bin}/keytool -genkeypair -alias a -keyalg EC -keystore store -storepass changeit -dname CN=a
{next}
{bin}/keytool -list -keystore store -storepass changeit
"""

# The container's program is a JVM that goes on, which jcmd examines. It has the port before jcmd starts.
JCMD = """
mkfifo /tmp/input
: >/tmp/output
{bin}/java -cp {work}/classes Work </tmp/input >/tmp/output 2>&1 &
exec 3>/tmp/input
until grep -q ready /tmp/output && grep -q "$AWAITED" /tmp/output; do sleep 0.1; done
{bin}/jcmd Work VM.version
{next}
{bin}/jcmd Work Thread.print | grep -c '"main"'
exec 3>&-
wait $!
code=$?
{next}
cat /tmp/output >&2
exit $code
"""

# jshell starts a second JVM for the code that is typed.
IN_JSHELL = (1, 2)

JSHELL = """
cd /tmp
echo 'System.out.println(6 * 7)' | {bin}/jshell -s -
"""

JAVAC = """
cd /tmp
{bin}/javac -d classes {work}/programs/Work.java && ls classes
{next}
{bin}/javac {work}/programs/probe.c
"""

MAVEN = """
set -e
cp -r {work}/maven-project /tmp/project
cd /tmp/project
{maven} compile && ls target/classes
{next}
{maven} no-such-phase | grep -c ERROR
"""

SHELL = """
cd /tmp
for i in 1 2 3; do echo $i; done | sort -r | tr '\\n' ' '
(ls / | grep -c usr) && awk 'BEGIN {{ print 6 * 7 }}' && exit 5
"""

# The first JVM of the container keeps the port until the second one has said that it cannot have it.
SECOND_JVM = """
mkfifo /tmp/first
: >/tmp/output
{bin}/java -cp {work}/classes Work </tmp/first >/tmp/output 2>&1 &
exec 3>/tmp/first
until grep -q "$AWAITED" /tmp/output; do sleep 0.1; done
{bin}/java -cp {work}/classes Work
code=$?
exec 3>&-
wait
{next}
cat /tmp/output >&2
exit $code
"""


def rows(context):
    workshop = context.workshop
    jdk = context.jdks[17]
    repository = pathlib.Path(os.environ.get("HOME", "/root"), ".m2")
    place = workshop.confined(jdk, "loopback", f"bind={repository}", namespaces=NAMESPACES)

    def script(text):
        maven = f"mvn -B -o -q -Dmaven.repo.local={repository}/repository"
        words = {"bin": f"{jdk.home}/bin", "work": place.work, "maven": maven, "next": f"echo '{NEXT_JVM}' >&2"}
        return workshop.script(text.format(**words), place, JAVA_HOME=jdk.home, AWAITED="ready")

    def injected(launch):
        return launch.with_variables(
            **workshop.probed(place),
            JAVA_TOOL_OPTIONS=workshop.agent(place, "port=9464"),
            AWAITED=":9464/metrics",
        )

    def row(name, text, counts, jvms, **more):
        plain = script(text)
        return Row(
            TOPIC,
            name,
            plain,
            injected(plain),
            says=f"{COUNTS}|{TAKEN}" if jvms else None,
            jvms=jvms,
            counts=counts,
            **({"exit_code": 0, "waits": False} | more),
        )

    key, time = r"[0-9A-F:]{59,}", r"\w{3} \d+, \d{4}[ \d:APM]*"
    yield row("keytool", KEYTOOL, ("keytool",), (BRIEF, BRIEF), replaces=((key, "key"), (time, "time")))
    yield row("jcmd, of a JVM in the container", JCMD, ("java", "jcmd"), (BRIEF, BRIEF, LASTING), exit_code=7)
    yield row("jshell", JSHELL, ("jshell",), (IN_JSHELL,), replaces=((time, "time"),))
    yield row("javac", JAVAC, ("javac",), (BRIEF, BRIEF), exit_code=2)
    yield row("Maven", MAVEN, ("java", "cp"), (LASTING, LASTING), needs=(workshop.maven_project,), compares_starts=False)
    yield row("a shell", SHELL, ("sort", "tr", "ls", "grep"), (), exit_code=5)
    second = (LASTING, LASTING)
    yield row("a second JVM", SECOND_JVM, (), second, waits=True, observe=port_is_taken, exit_code=7, quick=True)


def port_is_taken(process):
    """Checks that the line of the second JVM is there, and the first one's is not yet shown."""
    process.wait_for(lambda: process.line(TAKEN), f"a line that matches {TAKEN}")
    return ""
