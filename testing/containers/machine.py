"""Tests a kill on version 2 of control groups, in a machine that qemu emulates, with a kernel of Debian.

The machine's root is its initial ramdisk, so it has no disk and no network: the image like distroless, mallometer's image, the
application of the recipes, and busybox. Its init starts the application under a limit, waits for the kill, starts it again, prints
what it says, and switches the machine off.
"""

import re
import subprocess

from record import LeftOut

MEMORY_MIB = 2048
LIMIT_MIB = 256
SECONDS = 900

DOCKERFILE = """FROM debian-base AS files
FROM distroless/java:25
COPY --from=files /bin/busybox /bin/busybox
COPY --from=mallometer:0.1.0 /opt/mallometer /opt/mallometer
COPY --from=shop /opt/shop /opt/shop
COPY init /init
"""
INIT = f"""#!/bin/busybox sh
/bin/busybox --install -s /bin
mkdir -p /proc /sys /dev /tmp /record
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mount -t cgroup2 cgroup /sys/fs/cgroup
ip link set lo up
group=/sys/fs/cgroup/shop
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir $group
echo {LIMIT_MIB}M >$group/memory.max

start() {{
  sh -c 'echo $$ >'$group'/cgroup.procs && exec env LD_PRELOAD=/opt/mallometer/libmallometer.so MALLOMETER_ONLY=java \\
    /opt/java/bin/java -javaagent:/opt/mallometer/mallometer-agent.jar=port=9464,recording=/record/recording \\
    -Xmx64m -jar /opt/shop/shop.jar 50' </dev/null >/log 2>&1 &
}}

say() {{
  echo "said $*"
}}

install -m 666 /dev/null /dev/termination-log
say "kernel $(uname -r)"
say "mounted $(grep ' /sys/fs/cgroup ' /proc/mounts)"
start
wait $!
say "code $?"
say "events $(grep oom_kill $group/memory.events)"
say "message $(cat /dev/termination-log)"
start
until grep 'The previous run' /log; do sleep 1; done
say "sentence $(grep 'The previous run' /log)"
until wget -q -O /metrics http://127.0.0.1:9464/metrics && grep -q ^cgroup_memory_limit_bytes /metrics; do sleep 1; done
say "limit $(grep ^cgroup_memory_limit_bytes /metrics)"
say "exit $(grep ^mallometer_previous_exit_timestamp_seconds /metrics)"
poweroff -f
"""
QEMU = "usr/bin/qemu-system-x86_64"


def killed(engine):
    """Checks that the machine's kernel kills the application at the limit of its control group, and that the next start reports it."""
    kernels = sorted((engine.root / "boot").glob("vmlinuz-*"))
    if not kernels or not (engine.root / QEMU).exists():
        raise LeftOut("Debian's qemu-system-x86 and linux-image-cloud-amd64 could not be installed")
    directory = engine.scratch / "machine"
    (directory / "context").mkdir(parents=True)
    (directory / "context/Dockerfile").write_text(DOCKERFILE)
    init = directory / "context/init"
    init.write_text(INIT)
    init.chmod(0o755)
    engine.docker("build", "--progress=plain", "--provenance=false", "--output", f"type=local,dest={directory}/root", f"{directory}/context")
    return seen(boot(engine.root, kernels[-1], directory))


def boot(root, kernel, directory):
    """Boots the machine with the files in the directory's root/, by the programs of a Debian. Returns its output."""
    pack = 'cd "$0/root" && find . | cpio -o -H newc --quiet -R 0:0 | gzip -1 >"$0/ramdisk"'
    subprocess.run(["chroot", root, "sh", "-c", pack, directory], check=True)
    machine = ["-accel", "tcg,thread=multi", "-smp", "2", "-m", str(MEMORY_MIB), "-nographic", "-nodefaults", "-no-reboot", "-serial", "stdio"]
    files = ["-kernel", f"/{kernel.relative_to(root)}", "-initrd", f"{directory}/ramdisk", "-append", "console=ttyS0 loglevel=1 panic=-1"]
    done = subprocess.run(["timeout", str(SECONDS), "chroot", root, f"/{QEMU}", *machine, *files], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
    (directory / "printed").write_text(done.stdout + done.stderr)
    if done.returncode != 0:
        raise AssertionError(f"the machine did not end within {SECONDS} s, or qemu failed ({done.returncode}): {(done.stdout + done.stderr)[-1500:]}")
    return done.stdout


def seen(printed):
    """Returns the machine's lines if they are those of a kill."""
    # The firmware's sequences for a terminal stand before the first line.
    said = dict(re.findall(r"said (\w+) ([^\r\n]*)", printed))
    sentence = said.get("sentence", "")
    sentence = sentence[sentence.find("The previous run"):]
    wanted = {
        "version 2 of control groups": " cgroup2 " in said.get("mounted", ""),
        "the exit code of a kill": said.get("code") == "137",
        "a kill in memory.events": said.get("events") == "oom_kill 1",
        "the line in the termination message": "Grow.main (Grow.java:" in said.get("message", ""),
        "the sentence on the kill": "was OOM-killed" in sentence,
        "the limit": float(said.get("limit", "0").split()[-1]) == LIMIT_MIB << 20,
        "the reason oom": 'reason="oom"' in said.get("exit", ""),
    }
    missing = [what for what, is_so in wanted.items() if not is_so]
    if missing:
        raise AssertionError(f"no sign of {', '.join(missing)}: {said}; {printed[-1500:]}")
    return f"Linux {said['kernel']}, cgroup2, exit code 137, memory.events has {said['events']}; {said['limit']}; {sentence}; message: {said['message'].strip()}"
