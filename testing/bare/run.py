"""Follows the pages that a new user begins with, word by word, each in a Debian 12 of its own that has git and certificates
and nothing else (debootstrap), as root, without JAVA_HOME, with an empty Maven repository and a clone of the last commit.
Then runs `bin/test --fast` in one, bin/mallometer as a user with sudo, and the commands as a user without it. Needs root.

    python3 testing/bare/run.py ROOT [NAME...]     ROOT is such a Debian, which stays as it is; of NAME, all without any

docs/site/test_docs.py describes the marks above the blocks. A dependency, a plugin and properties that stand alone are added
to the application of testing/published/spring, or to the project whose page comes first in PAGES below. Commands run in that project, where
`bin` leads to the clone. PID stands for a JVM that nobody prepared. Files that tell this machine's Maven about mirrors and
proxies, and certificates that this machine trusts, are copied.
"""

import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "docs/site"))
import test_docs  # noqa: E402

SPRING, JUNIT = "testing/published/spring", "testing/junit/README.md"
# The pages, each with the project that its reader has.
PAGES = {
    "README.md": SPRING,
    "docs/start/spring.md": SPRING,
    JUNIT: None,
    "testing/jmh/README.md": None,
    "docs/reference/gates.md": JUNIT,
}
CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----\n", re.S)
BUNDLE = "etc/ssl/certs/ca-certificates.crt"
PROPERTY = re.compile(r"management\.endpoints\.web\.exposure\.include=[\w,]+")
# Enters a root with a process namespace of its own, whose end takes all processes with it.
ENTER = """mount -t proc proc "$0/proc"; mount --rbind /sys "$0/sys"; mount --rbind /dev "$0/dev"
exec chroot "$0" env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
  NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt bash"""
FUNCTIONS = """
failed=0 running=()
say() { printf '%6d s  %s\\n' "$SECONDS" "$*"; }
shown() { tail -n 12 /tmp/out | sed $'s/\\e\\[[0-9;]*m//g; s/^/            /' | cut -c 1-180; }
wrong() { say "FAILED: $*"; tail -n 40 /tmp/out; failed=1; }
prints() { local text; while IFS= read -r text; do ! grep -qF -- "$text" /tmp/out || return 0; done <<<"${1//|/$'\\n'}"; return 1; }
# done_with EXIT_CODE TEXT COMMANDS
done_with() {
  local code=0
  say "\\$ $3"
  rm -f /tmp/out # a command in the background keeps its own
  bash -euc "$3" >/tmp/out 2>&1 </dev/null || code=$?
  shown
  ((code == $1)) || { wrong "exit code $code, not $1"; return; }
  prints "$2" || wrong "it does not print $2"
}
# until_it_says TEXT COMMANDS
until_it_says() {
  say "\\$ $2"
  rm -f /tmp/out
  : >/tmp/out
  setsid bash -euc "$2" >/tmp/out 2>&1 </dev/null &
  running+=($!)
  for ((i = 0; i < 1800; i++)); do
    if prints "$1"; then shown; say "it says: $1"; return; fi
    kill -0 "${running[-1]}" 2>/dev/null || break
    sleep 0.5
  done
  wrong "it does not say $1"
}
"""


def bare(pristine, directory):
    """Copies the root, with the settings of this network and a clone of the last commit."""
    root = pathlib.Path(directory, "root")
    subprocess.run(["cp", "-a", pristine, root], check=True)
    (root / "usr/sbin/policy-rc.d").unlink(missing_ok=True)
    (root / "etc/hosts").write_text("127.0.0.1 localhost\n")
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    known = set(CERTIFICATE.findall((root / BUNDLE).read_text()))
    for number, text in enumerate(sorted(set(CERTIFICATE.findall(pathlib.Path("/", BUNDLE).read_text())) - known)):
        (root / f"usr/local/share/ca-certificates/of-this-machine-{number}.crt").write_text(text)
    subprocess.run(["chroot", root, "update-ca-certificates"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    settings = pathlib.Path.home() / ".m2/settings.xml"
    if settings.exists():
        (root / "root/.m2").mkdir(exist_ok=True)
        shutil.copy(settings, root / "root/.m2")
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", REPOSITORY, root / "root/mallometer"], check=True)
    return root


def run(root, script):
    """Runs a bash script in the root. Returns whether it ended with 0."""
    sys.stdout.flush()
    command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", f'{ENTER} -c "$1"', root, FUNCTIONS + script]
    return subprocess.run(command).returncode == 0


def project_of(page, project):
    """Makes the project that the reader of a page already has."""
    start = PAGES[page]
    if start == SPRING:
        shutil.copytree(REPOSITORY / SPRING, project)
        pom = (project / "pom.xml").read_text()
        pom = re.sub(r"\s*<dependencyManagement>.*?</dependencyManagement>", "", pom, flags=re.S)
        pom = re.sub(r"\s*<dependency>\s*<groupId>io\.mallometer<.*?</dependency>", "", pom, flags=re.S)
        (project / "pom.xml").write_text(pom)
    else:
        (project / "target").mkdir(parents=True)
        if start:
            for path, body in files(start):
                write(project, path, body)


def write(project, path, body):
    (project / path).parent.mkdir(parents=True, exist_ok=True)
    (project / path).write_text(body)


def files(page):
    for each in test_docs.BLOCK.finditer((REPOSITORY / page).read_text()):
        if (each["mark"] or "").startswith("file: "):
            yield each["mark"].removeprefix("file: "), each["body"]


def script_of(page, project):
    """The commands of a page, in its order; files of the project are written as the page shows them."""
    text = (REPOSITORY / page).read_text()
    if "curl " in text:
        yield "apt-get -q update >/tmp/out 2>&1; apt-get -q -y install --no-install-recommends curl >/tmp/out 2>&1; say 'the reader has curl'"
    if PAGES[page] != SPRING and "bin/build" not in text:
        yield "done_with 0 'installed io.mallometer' bin/build"
    for each in test_docs.BLOCK.finditer(text):
        mark, language, body = each["mark"] or "", each["language"], each["body"]
        match = test_docs.RUN.fullmatch(mark)
        if mark.startswith("file: "):
            yield f"mkdir -p {shlex.quote(str(pathlib.Path(mark[6:]).parent))}; printf %s {shlex.quote(body)} >{shlex.quote(mark[6:])}"
        elif language == "xml":
            yield from added(body)
        elif language == "properties":
            yield f"mkdir -p src/main/resources; printf %s {shlex.quote(body)} >>src/main/resources/application.properties"
        elif match:
            yield from command_of(match, body)
        elif language == "sh":
            yield f"say {shlex.quote(mark)}"


def added(body):
    """Yields the commands that add a dependency or a plugin at the end of its kind in pom.xml."""
    kind = re.match(r"<(dependency|plugin)>", body)
    if kind:
        plural = {"dependency": "dependencies", "plugin": "plugins"}[kind.group(1)]
        # This uses Perl, which is in every Debian.
        yield f"B={shlex.quote(body)} perl -0pi -e 's|(.*)(</{plural}>)|$1$ENV{{B}}$2|s' pom.xml"


def command_of(match, body):
    body = body.strip()
    if re.search(r"\bPID\b", body):
        yield PLAIN
        body = re.sub(r"\bPID\b", "$PID", body)
        yield "export PID"
        if "bin/mallometer" in body and "attach" not in body:
            yield 'bin/mallometer attach "$PID" >/tmp/out 2>&1 || wrong attach'
    if match["until"]:
        if "app.jar" in body:
            yield READY_JAR
        yield f"until_it_says {shlex.quote(match['until'])} {shlex.quote(body)}"
    else:
        yield f"done_with {match['code'] or 0} {shlex.quote(match['prints'] or '')} {shlex.quote(body)}"


PLAIN = """if [[ -z ${PID:-} ]]; then
  java -Xmx96m ~/mallometer/samples/leaky-service/e2e/Grow.java >/dev/null 2>&1 < <(exec sleep 3600) &
  PID=$! running+=("$PID")
  sleep 10
fi"""
# Makes the reader's application, and the agent at the place that README names.
READY_JAR = """mkdir -p src/main/resources
until_it_says 'Native memory is counted since' 'mvn -q spring-boot:run'
kill -TERM -- "-${running[-1]}"; wait "${running[-1]}"; unset 'running[-1]'
done_with 0 '' 'mvn -q package && cp target/spring-1.jar app.jar && cp ~/mallometer/metrics-bridge/agent/target/mallometer-agent.jar .'"""


def follow(page, pristine, directory):
    root = bare(pristine, directory)
    project = root / "root/project"
    project_of(page, project)
    if page == "README.md":
        found = PROPERTY.search((REPOSITORY / page).read_text())
        write(project, "src/main/resources/application.properties", found.group() + "\n")
    (project / "bin").symlink_to("../mallometer/bin")
    (project / "dashboards").symlink_to("../mallometer/dashboards")
    end = 'for each in "${running[@]}"; do kill -TERM -- "-$each" 2>/dev/null || kill "$each" 2>/dev/null; wait "$each"; done; exit "$failed"'
    return run(root, "\n".join(["cd ~/project", *script_of(page, project), end]))


def fast(pristine, directory):
    root = bare(pristine, directory)
    return run(root, "cd ~/mallometer && bin/test --fast")


def tests(pristine, directory):
    root = bare(pristine, directory)
    return run(root, "cd ~/mallometer && bin/test")


AS_USER = """useradd -m user; cp -r ~/mallometer /home/user; chown -R user /home/user/mallometer; cd /home/user/mallometer
as_user() { setpriv --reuid=user --regid=user --init-groups env HOME=/home/user "$@"; }
export -f as_user
"""


def refused(pristine, directory):
    """Checks, as a user without sudo, that each command ends with one message that names all packages and installs nothing."""
    root = bare(pristine, directory)
    script = AS_USER + """
for command in bin/demo bin/build bin/test 'bin/test --fast' 'bin/mallometer --version'; do
  say "\\$ $command"
  as_user $command >/tmp/out 2>&1 && wrong "it ended with 0"
  cat /tmp/out
  (($(wc -l </tmp/out) == 1)) && prints 'packages are missing. Install them as root: apt-get update && apt-get install' || wrong "it is not one message"
done
exit "$failed" """
    return run(root, script)


def with_sudo(pristine, directory):
    """Checks that bin/mallometer installs packages through sudo, builds the agent and says so, and that the output of the command stays its
    own."""
    root = bare(pristine, directory)
    return run(root, AS_USER + """apt-get -q update >/tmp/out 2>&1; apt-get -q -y install --no-install-recommends sudo >/tmp/out 2>&1
echo 'user ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/user
done_with 0 'building' 'as_user bin/mallometer --version 2>&1 >/tmp/version'
cp /tmp/version /tmp/out; (($(wc -l </tmp/out) == 1)) && prints mallometer || wrong 'it prints more than the version'
done_with 0 LD_PRELOAD 'as_user bin/mallometer run -- env'
exit "$failed" """)


OTHERS = {"refused": refused, "sudo": with_sudo, "bin/test --fast": fast, "bin/test": tests}


def main(pristine, *names):
    results = []
    for name in names or [*PAGES, "refused", "sudo", "bin/test --fast"]:
        with tempfile.TemporaryDirectory(dir=pathlib.Path(pristine).parent) as directory:
            print(f"\n== {name}")
            began = time.monotonic()
            passed = OTHERS[name](pristine, directory) if name in OTHERS else follow(name, pristine, directory)
            results.append(f"{'passed' if passed else 'FAILED'} {time.monotonic() - began:5.0f} s  {name}")
            print(results[-1])
    print("\n" + "\n".join(results))
    sys.exit(any(line.startswith("FAILED") for line in results))


if __name__ == "__main__":
    main(*sys.argv[1:])
