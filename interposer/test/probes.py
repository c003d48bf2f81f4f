#!/usr/bin/env python3
"""
Receives the library's probes as a profiler outside of the process does, with bpftrace, while a program runs:

    probes.py LIBRARY TIMES COMMAND...

The program takes snapshots; what it requests between two of them is one round. Over all rounds of all runs - the mean of the sums of
weighted_bytes is within 2 % of the mean of the requested bytes, - their mean difference is within four standard errors of 0, - each address
was announced once before it was freed, and no free is of an address that was not announced, - as many objects are live at the end, by what
was heard, as the program says that the library knows, - the requested bytes, and the mappings and the bytes of what was mapped and unmapped,
are those that the program says, if it says them. If only the first two rules are violated, everything is measured once more. Libraries in
BESIDE are preloaded as well. Ends with 77 ("not available here") and the reason if the kernel or a sandbox does not let a tracer attach.
"""

import collections
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ATTACHED = "listening"
# Chance puts 1.6 % of sets of five rounds beyond four standard errors (Student's t), and 0.03 % of sets of forty.
FEWEST_ROUNDS = 40
# The exit code if only the weighted bytes are too far from those requested. On a busy machine the library takes fewer samples, and one
# standard error may be 0.65 %, so chance exceeds 2 % in about one of 300 sets. A bias exceeds it in a second set, too.
BIASED = 2
SCRIPT = """
BEGIN {{ printf("{attached}\\n"); }}
uprobe:{library}:mallometer_snapshot {{ @at[tid] = arg0; }}
uretprobe:{library}:mallometer_snapshot /@at[tid]/ {{
  @requested[pid, @round[pid]] = *(uint64 *)(@at[tid] + {requested});
  @round[pid] = @round[pid] + 1;
  delete(@at[tid]);
}}
usdt:{library}:otel_memory:alloc {{
  @bytes[pid, @round[pid]] = sum(arg2);
  @allocations[pid] = count();
  if (@live[pid, arg0]) {{ @twice[pid] = count(); }}
  if (arg1 == 0 || arg2 < arg1) {{ @light[pid] = count(); }}
  @live[pid, arg0] = 1;
}}
usdt:{library}:otel_memory:free {{
  if (@live[pid, arg0]) {{ @frees[pid] = count(); delete(@live[pid, arg0]); }} else {{ @unknown[pid] = count(); }}
}}
usdt:{library}:otel_memory:mmap {{ @mapped[pid] = sum(arg1); @mappings[pid] = count(); }}
usdt:{library}:otel_memory:munmap {{ @unmapped[pid] = sum(arg1); }}
END {{ clear(@at); clear(@round); }}
"""


def not_here(reason):
    print(f"not here: {reason}")
    sys.exit(77)


def offset_of_requested(header):
    """Returns the offset of the requested bytes, by the members that the header declares before them."""
    classes = int(re.search(r"MALLOMETER_SIZE_CLASSES\s*=?\s*(\d+)", header).group(1))
    before = re.search(r"struct mallometer_counters \{(.*?)uint64_t requested_bytes;", header, re.DOTALL).group(1)
    members = re.findall(r"^  uint(\d+)_t \w+(\[MALLOMETER_SIZE_CLASSES\])?;", before, re.MULTILINE)
    return sum(int(bits) // 8 * (classes if array else 1) for bits, array in members)


def listen(library, header):
    if os.geteuid() != 0:
        not_here("a tracer needs root")
    if not shutil.which("bpftrace"):
        not_here("bpftrace is not installed")
    script = SCRIPT.format(attached=ATTACHED, library=library, requested=offset_of_requested(header))
    heard = tempfile.TemporaryFile("w+")
    tracer = subprocess.Popen(
        ["bpftrace", "-e", script],
        stdout=heard,
        stderr=subprocess.STDOUT,
        env={**os.environ, "BPFTRACE_MAP_KEYS_MAX": "500000"},
    )
    begin = time.monotonic()
    while ATTACHED not in text_of(heard):
        if tracer.poll() is not None:
            not_here("bpftrace cannot attach: " + " ".join(text_of(heard).split())[-400:])
        if time.monotonic() - begin > 100:
            tracer.kill()
            sys.exit("bpftrace did not attach within 100 s")
        time.sleep(0.1)
    return tracer, heard


def text_of(file):
    file.seek(0)
    return file.read()


def end(tracer, heard):
    tracer.send_signal(signal.SIGINT)
    try:
        # At each removal of a probe the kernel waits for all processors, for seconds if they are busy.
        tracer.wait(150)
    except subprocess.TimeoutExpired:
        tracer.kill()
        sys.exit("the kernel did not take bpftrace's probes away within 150 s")
    maps = collections.defaultdict(dict)
    for name, keys, value in re.findall(r"^@(\w+)\[([\d, ]+)\]: (\d+)$", text_of(heard), re.MULTILINE):
        maps[name][tuple(int(key) for key in keys.split(","))] = int(value)
    return maps


def main():
    # This traces a copy, because other programs that run meanwhile have the library, too.
    with tempfile.TemporaryDirectory() as folder:
        library = shutil.copy(sys.argv[1], folder)
        code = run(library, int(sys.argv[2]), sys.argv[3:])
        if code == BIASED:
            print("measured once more")
            code = run(library, int(sys.argv[2]), sys.argv[3:])
        sys.exit(code)


def run(library, times, command):
    with open(os.path.join(os.path.dirname(__file__), "../include/mallometer.h"), encoding="utf-8") as file:
        header = file.read()
    environment = {**os.environ, "LD_PRELOAD": ":".join([library, *os.environ.get("BESIDE", "").split()])}
    tracer, heard = listen(library, header)
    live = 0
    said = collections.Counter()
    try:
        for _ in range(times):
            ended = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
            if ended.returncode != 0:
                print(ended.stdout)
                return ended.returncode
            live += int(re.search(r"(\d+) live samples", ended.stdout).group(1))
            for name, figure in re.findall(r"(requested|mappings|mapped|unmapped) (\d+)", ended.stdout):
                said[name] += int(figure)
    finally:
        maps = end(tracer, heard)
    maps["requested"] = requested_in_rounds(maps["requested"])
    if not judge_said(maps, said):
        return 1
    return judge(maps, live)


def requested_in_rounds(totals):
    return {
        (pid, round_): total - totals[pid, round_ - 1]
        for (pid, round_), total in sorted(totals.items())
        if (pid, round_ - 1) in totals
    }


def judge_said(maps, said):
    heard = {name: sum(maps[name].values()) for name in said}
    print(f"heard {heard}, and the program says {dict(said)}")
    return heard == said


def judge(maps, live):
    """Returns the exit code."""
    requested = list(maps["requested"].values())
    estimated = [maps["bytes"].get(round_, 0) for round_ in maps["requested"]]
    rounds = len(requested)
    if rounds < FEWEST_ROUNDS:
        print(f"{rounds} rounds were seen: of so few, chance exceeds four standard errors too often")
        return 1
    differences = [e - r for e, r in zip(estimated, requested)]
    mean = sum(differences) / rounds
    error = math.sqrt(sum((d - mean) ** 2 for d in differences) / (rounds - 1) / rounds)
    share = mean / (sum(requested) / rounds)
    sums = {name: sum(maps[name].values()) for name in ("allocations", "frees", "twice", "unknown", "light")}
    print(
        f"{rounds} rounds of {sum(requested) / rounds / 1e6:.1f} MB, {sums['allocations']} samples announced, "
        f"{sums['frees']} of them freed, {len(maps['live'])} live at the end, "
        f"{live} by the library\n"
        f"weighted bytes {share:+.3%} of those requested, {mean / error if error else 0:+.2f} standard errors "
        f"(one is {error / (sum(requested) / rounds):.3%})\n"
        f"announced twice {sums['twice']}, frees of what was not announced {sums['unknown']}, "
        f"lighter than their size {sums['light']}"
    )
    # The bound is not 0, because objects are freed and allocated between the library's answer and the end of its process.
    all_frees_seen = abs(len(maps["live"]) - live) <= 20 + 0.02 * live
    if not all_frees_seen or sums["twice"] + sums["unknown"] + sums["light"] > 0:
        return 1
    return 0 if abs(share) <= 0.02 and abs(mean) <= 4 * error else BIASED


if __name__ == "__main__":
    main()
