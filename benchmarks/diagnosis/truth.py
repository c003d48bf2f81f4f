"""The programs whose diagnosis is checked, each with the truth about its memory. Compares what was recorded of each with that, and prints
the tables."""

import bisect
import dataclasses
import datetime
import functools
import json
import pathlib
import re
import statistics

import measure

HERE = pathlib.Path(__file__).resolve().parent
MIB = 1 << 20
LIBRARIES = (
    "com.microsoft.onnxruntime:onnxruntime:1.19.2",
    "org.apache.groovy:groovy:4.0.24",
    "org.duckdb:duckdb_jdbc:1.4.1.0",
    "org.lmdbjava:lmdbjava:0.9.0",
    "net.java.dev.jna:jna:${jna.version}",
    "org.conscrypt:conscrypt-openjdk-uber:2.5.2",
    "com.github.luben:zstd-jni:${zstd-jni.version}",
    "org.rocksdb:rocksdbjni:${rocksdbjni.version}",
    "org.fusesource.leveldbjni:leveldbjni-all:1.8",
    "org.openpnp:opencv:4.9.0-0",
)
STATES = ("too_early", "healthy", "watch", "act")
FACES = ("page", "health", "report", "top", "leaks", "MBean", "log", "series")
COMMANDS = ("report", "top", "leaks")
MOST_WORDS = 25
# The errors that are allowed in an account: a share of a row's true growth, a share of the whole growth, and absolute numbers of bytes,
# counts and classes (the agent and JMX load up to 230 classes in the minutes from 2 to 5).
ROW_SHARE, TOTAL_SHARE = 0.15, 0.1
LEAST_BYTES, LEAST_COUNT, LEAST_CLASSES = 4 * MIB, 30, 250
# The factors by which a forecast may be wrong. It is checked for growth of 1 MiB/min or more.
FORECAST_FACTOR_LOW, FORECAST_FACTOR_HIGH = 0.6, 1.67
LEAST_RATE = MIB / 60
# The beginning and the end of an account's window are each the mean of the readings of this many seconds, and at most of a quarter of the
# window.
END_SECONDS = 50
READING_SECONDS = 15


@dataclasses.dataclass(frozen=True)
class Situation:
    name: str
    # The truth about the program, in words.
    truth: str
    minutes: float
    # Arguments of Situation.java; empty for the service.
    program: tuple = ()
    properties: tuple = ()
    heap: int = 128
    # Options of the JVM.
    options: tuple = ()
    # The minutes for which the program is watched after each restart, if the kernel kills it.
    again: float = 0
    restarts: int = 1
    # The limit of the cgroup in MiB; 0 for no limit.
    limit: int = 512
    # The minute at which the truth begins to hold.
    begins: float = 0
    # The right states from minute 5 on.
    states: tuple = ()
    # The right states at minute 10, if they are fewer.
    late: tuple = ()
    # Texts that the sentence must contain in the states act and watch, and texts that no sentence may contain.
    says: tuple = ()
    not_says: tuple = ()
    # Texts that the sentence must contain in any state.
    always_says: tuple = ()
    # Texts that the page's advice must contain.
    acts: tuple = ()
    # The kinds of rows of the account that grow.
    grows: tuple = ()
    # Whether the account attributes all of the growth.
    attributed: bool = True

    @property
    def file(self):
        return self.name.replace(" ", "-")


QUIET = ("healthy", "too_early")
GRAVE = ("watch", "act")


def unseen(name, truth, states, heap=64, **other):
    return Situation(name, truth, 10, (name,), heap=heap, states=states, **other)


# Programs that were written before anybody looked at the rules of the diagnosis.
UNSEEN = (
    unseen("sessions", "60 MiB of direct buffers within 2 min, then as many are closed as are opened", ("healthy", "too_early", "watch"), late=QUIET,
           not_says=("is a leak", "leaks")),
    unseen("inflaters", "three readers keep Inflaters by a helper that all share, 6 MiB/min together", GRAVE, says=(r"Unseen\.inflate",), grows=("site",)),
    unseen("batch-of-unsafe", "60 MiB within a minute, freed; again and again", QUIET, not_says=("OOM", "expected", "leak")),
    unseen("child", "a process in the same cgroup grows 8 MiB/min", GRAVE, says=("[Oo]ther processes",), not_says=("leak",), grows=("others",)),
    unseen("full-heap", "a cache on the heap grows to 140 of at most 200 MiB", QUIET, heap=200, late=("healthy",)),
    unseen("pinned", "malloc retains 11 MiB more a minute between small objects that are used", GRAVE, says=("[Mm]alloc retain",), not_says=("is a leak",),
           grows=("retained",)),
    unseen("pool-per-request", "a pool of two threads for each request, never shut down, 60 threads/min", ("watch",), limit=0,
           says=("threads/min", r"Orders\.handle"), grows=("stacks",)),
    unseen("written-mapping", "writes 30 MiB/min of a file by a shared mapping", QUIET),
    unseen("shm", "writes 10 MiB/min to files in a tmpfs", GRAVE, says=("tmpfs",), not_says=("leak",), grows=("tmpfs",)),
    unseen("idle-server", "answers a request every two seconds", QUIET, late=("healthy",), limit=0),
    unseen("hidden-classes", "a hidden class for each call, 600 a minute, kept", ("watch",), heap=128, limit=0, says=("classes/min",), grows=("metaspace",)),
    unseen("ring", "a ring of 4 MiB is replaced every 20 s and lost", GRAVE, says=(r"Ring\.replace \(Unseen\.java:\d+\)",), grows=("site",)),
)


def leak(name, **other):
    return Situation(f"leak {name}", "leaks 1 MB/s until the kernel kills it; is started again", 14,
                     properties=(f"--leaky.leaks.on={name}", "--leaky.leaks.cap=1TB"), again=4, states=GRAVE, **other)


def reported(name, truth, states=GRAVE, heap=64, **other):
    return Situation(name, truth, 10, (name,), heap=heap, states=states, **other)


# Programs as users reported them, most of them with the real libraries.
REPORTED = (
    reported("onnxruntime", "results are not closed, 20 MiB/min, in blocks that double", limit=1024, says=(r"Inference\.infer \(Growing\.java:\d+\)",),
             grows=("site",)),
    reported("groovy", "a script is compiled twice a second and kept", ("watch",), heap=256, limit=0, says=("classes/min",), grows=("metaspace",)),
    reported("duckdb", "results of 1 MiB are kept in memory of libduckdb's own allocator", limit=512, says=("[Aa]nonymous memory outside malloc",),
             acts=("unexplained",), grows=("anonymous",), attributed=False),
    reported("lmdb", "a database is read, 30 MiB/min", QUIET,
             options=("--add-opens=java.base/java.nio=ALL-UNNAMED", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED"), always_says=(r"data\.mdb",)),
    Situation("one Inflater in three", "zlib leaks 4.6 MiB/min in the service, without a limit", 10, limit=0, heap=256, states=GRAVE,
              properties=("--leaky.leaks.on=zlib", "--leaky.leaks.cap=1TB", "--leaky.leaks.rate=80000B"), says=(r"ReportArchive\.pack",), grows=("site",)),
    reported("many-leaks", "six leaks of 2 MiB/min each and three caches, 83 threads", limit=0, heap=256, says=(r"Cached\.add|Lost\.\w+",), grows=("site",)),
    reported("conscrypt", "engines and direct buffers wait for a collection, 75 MiB in 75 s, then fall", QUIET, not_says=("OOM", "expected", "is a leak")),
    reported("streams", "healthy: 400 MiB from the start, and the heap on its way to its maximum of 1 GiB", QUIET, heap=1024, limit=2048,
             not_says=("OOM", "expected")),
    reported("jna", "Deflaters are kept, 38 MiB/min, and tokens lost by jna, 6.4 MiB/min", limit=0, says=(r"Archive\.pack", r"Tokens\.read"), grows=("site",)),
    reported("opencv", "images are never released, 8.6 MiB/min; ten frames above its own line", says=(r"Images\.copy",), grows=("site",)),
    reported("leveldb", "batches are never closed, 7.6 MiB/min", says=(r"Batches\.prepare",), grows=("site",)),
    reported("rocksdb", "batches are never closed, 7.6 MiB/min; ten frames above its own line", says=(r"Replicas\.receive",), grows=("site",)),
    reported("zstd", "contexts are never closed, about 10 MiB/min; ten frames above its own line", says=(r"Storage\.store",), grows=("site",)),
    reported("near-limit", "loses 10 MiB/min since the start, and reaches the limit after 12 min or so", ("act",), again=0, restarts=0,
             says=(r"Uploads\.receive",), grows=("site",)),
    reported("threads", "five threads a second never end", ("watch",), limit=0, says=("threads/min", r"RepairTask\.execute"), grows=("stacks",)),
    reported("bursts", "32 threads take small objects and free all of them; malloc keeps ever more", says=("[Mm]alloc retain", "arenas"),
             acts=("[Tt]rim|ARENA",), grows=("retained",)),
    reported("realloc", "a buffer is doubled by realloc", ("watch",), limit=0, says=(r"Growing\.realloc \(Growing\.java:\d+\)",), grows=("site",)),
    reported("read-only-mapping", "a file is mapped and read", QUIET, always_says=("pages of file grew",)),
    reported("classes", "a class is loaded ten times a second, and 10 KiB of heap kept", ("watch",), heap=128, limit=0, says=("classes/min",),
             grows=("metaspace",)),
)

OTHERS = (
    Situation("healthy service", "does not leak", 60, states=QUIET),
    Situation("slow leak", "zlib leaks 1 MiB/min", 40,
              properties=("--leaky.leaks.on=zlib", "--leaky.leaks.cap=1TB", f"--leaky.leaks.rate={MIB // 60}B")),
    Situation("read cache", "150 MiB within 20 min, each entry read every 30 s", 35, ("read-cache", "20"), heap=64,
              states=GRAVE, says=(r"Situation\.put",)),
    Situation("unread cache", "150 MiB within 20 min, never read", 35, ("unread-cache", "20"), heap=64, states=GRAVE,
              says=(r"Situation\.put",)),
    Situation("burst", "120 MiB from minute 4 to 5, kept and not used", 25, ("burst",), heap=64, begins=4, states=GRAVE,
              says=(r"Situation\.put",)),
    Situation("heap", "a heap of at most 700 MiB grows 25 MiB/min", 25, ("heap",), heap=700, again=4, states=GRAVE,
              says=("Java heap",)),
    Situation("page cache", "writes and reads a file of 1 GiB, 8 MiB/s", 15, ("page-cache", "0"), heap=64, states=QUIET),
    leak("zlib", says=(r"ReportArchive\.pack",)),
    leak("sqlite"),
    leak("zstd", says=(r"ColdStorage\.store",)),
    leak("jna"),
)

SITUATIONS = (*UNSEEN, *REPORTED, *OTHERS)


def compile_programs(home, directory):
    """Compiles the programs into a directory, and returns their class path."""
    libraries = measure.artifacts("diagnosis", LIBRARIES)
    measure.compile_java(home, HERE.glob("*.java"), directory, libraries)
    return f"{directory}:{libraries}"


def read(results, situation):
    file = results / f"{situation.file}.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def changes(records, face):
    """Returns the records of a face in which its state differs from that of the record before."""
    changed, last = [], None
    for record in records:
        if record["face"] == "end":
            changed.append(record)
            last = None
        elif record["face"] == face and (record["run"], record["state"]) != last:
            changed.append(record)
            last = record["run"], record["state"]
    return changed


def cell(records, face):
    if not any(record["face"] == face for record in records):
        return "nothing" if face == "log" else "has none"
    return ", ".join(record["state"].replace("_", " ") + f" {record['minute']:.1f}" for record in changes(records, face))


# ---- What was wrong


def wrong_states(situation, pages):
    """Yields pairs of a page and of what is wrong with its state or sentence."""
    for page in pages:
        state, sentence = page["state"], page["sentence"]
        if len(sentence.split()) > MOST_WORDS:
            yield page, f"{len(sentence.split())} words"
        if state == "healthy" and page["minute"] >= situation.begins and situation.states and "healthy" not in situation.states:
            yield page, "healthy"
        elif page["minute"] >= situation.begins + 5 and situation.states:
            right = situation.late if situation.late and page["minute"] >= 9.5 else situation.states
            if state not in right:
                yield page, f"state {state}"
            texts = situation.always_says + (situation.says if state in ("watch", "act") else ())
            for text in texts:
                if not re.search(text, sentence):
                    yield page, f"no {text}"
            if state in ("watch", "act"):
                for text in situation.acts:
                    if not re.search(text, json.dumps(page["actions"])):
                        yield page, f"no action {text}"
        for text in situation.not_says:
            if re.search(text, sentence):
                yield page, f"says {text}"


def unsteady(pages):
    """Finds more than one change of the state or the first row after the page has said something else than too early."""
    last, seen = None, []
    for page in pages:
        if page["state"] != "too_early":
            present = page["state"], (page.get("named") or [""])[0]
            if last is not None and present != last:
                seen.append((page, f"{last[0]} {last[1]} became {present[0]} {present[1]}"))
            last = present
    if len(seen) > 1:
        yield seen[-1][0], f"{len(seen)} changes: " + "; ".join(f"{page['minute']:.1f} {what}" for page, what in seen)


def seconds_of_ends(begin, end):
    """Returns the distances in seconds, from an end of a window, of the readings whose mean it is."""
    return range(0, int(min(END_SECONDS, (end - begin) / 4)) + 1, READING_SECONDS)


class Plan:
    """The growth that a program planted over the time."""

    def __init__(self, records, run):
        self.points = [(record["time"], record["rows"]) for record in records if record["face"] == "planted" and record["run"] == run]

    def growth(self, begin, end):
        """Returns the growth of each row between two times, computed like an account's; empty if it is unknown."""
        if len(self.points) < 2 or end - begin < 30:
            return {}
        names = {name for _, rows in self.points for name in rows}
        ends = seconds_of_ends(begin, end)
        return {name: statistics.fmean(self.at(name, end - second) - self.at(name, begin + second) for second in ends) for name in names}

    def at(self, name, time):
        """Returns the value of a row at a time, interpolated between the two points around it."""
        times = [point[0] for point in self.points]
        after = min(max(bisect.bisect(times, time), 1), len(times) - 1)
        (from_time, before), (to_time, later) = self.points[after - 1:after + 1]
        share = min(max((time - from_time) / (to_time - from_time), 0), 1)
        return before.get(name, 0) * (1 - share) + later.get(name, 0) * share


def instant(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


@functools.cache
def places(method):
    """Returns the source lines of a method Class.method as an account names them, such as Unseen.java:97."""
    kind, _, name = method.partition(".")
    for file in HERE.glob("*.java"):
        lines, inside = file.read_text().splitlines(), False
        for first, line in enumerate(lines):
            inside = inside or re.search(rf"\bclass {kind}\b", line) is not None
            if inside and re.match(rf" +(private |static |synchronized )*\w+ {name}\(", line):
                indent = line[:len(line) - len(line.lstrip())]
                return {f"{file.name}:{number + 1}" for number in range(first, lines.index(indent + "}", first))}
    raise ValueError(method)


def measured(account, name):
    """Returns the growth that an account's rates give for a row of the plan, and the least difference that counts."""
    kind, _, pattern = name.partition(":")
    begin, end = instant(account["from"]), instant(account["to"])
    seconds = end - begin - 2 * statistics.fmean(seconds_of_ends(begin, end))
    if kind == "count":
        return sum(count["perMinute"] / 60 * seconds for count in account["counts"] if count["name"] == pattern), (
            LEAST_CLASSES if pattern == "classes" else LEAST_COUNT)
    if kind == "file":
        return sum(file["growthBytes"] for file in account["files"] if file["name"] == pattern), LEAST_BYTES
    return sum(row["bytesPerSecond"] * seconds for row in account["rows"] if row["kind"] == kind and (
        kind != "site" or row["place"] in places(pattern))), LEAST_BYTES


def unattributed(account):
    """Returns the bytes that no row explains, and how many there may be."""
    unknown = sum(abs(row["growthBytes"]) for row in account["rows"] if row["kind"] in ("unattributed", "sampling"))
    grown = sum(max(row["growthBytes"], 0) for row in account["rows"])
    return unknown, max(TOTAL_SHARE * grown, LEAST_BYTES), grown


def wrong_rows(situation, page, plan):
    account = page["account"]
    if not account or not account.get("rows"):
        if situation.grows:
            yield "no account"
        return
    for kind in situation.grows:
        if not any(row["kind"] == kind and row["growthBytes"] > 0 for row in account["rows"]):
            yield f"no row {kind} grew"
    unknown, allowed, _ = unattributed(account)
    if situation.attributed and unknown > allowed:
        yield f"not attributed or sampled {unknown / MIB:.1f} of at most {allowed / MIB:.1f} MiB"
    for name, truth in plan.growth(instant(account["from"]), instant(account["to"])).items():
        found, least = measured(account, name)
        if abs(found - truth) > max(ROW_SHARE * abs(truth), least):
            unit, word = (1, "") if name.startswith("count:") else (MIB, " MiB")
            yield f"{name} {found / unit:+.1f} instead of {truth / unit:+.1f}{word}"


def wrong_forecast(situation, page, plan):
    """Finds a forecast of the limit that is far from the planted growth; the heap may also fill up to its maximum."""
    account, seconds = page["account"], page["limit"].get("seconds")
    if not seconds or not account or not account.get("rows") or page["limit"]["source"] != "cgroup":
        return
    begin, end = instant(account["from"]), instant(account["to"])
    grown = sum(bytes_ for name, bytes_ in plan.growth(begin, end).items() if name.partition(":")[0] not in ("count", "file"))
    rate = grown / max(end - begin - 2 * statistics.fmean(seconds_of_ends(begin, end)), 1)
    if rate < LEAST_RATE:
        return
    room = page["limit"]["bytes"] - page["limit"]["usedBytes"]
    heap = situation.heap * MIB - next((row["bytes"] for row in account["rows"] if row["kind"] == "heap"), 0)
    low, high = FORECAST_FACTOR_LOW * (room - heap) / rate, FORECAST_FACTOR_HIGH * room / rate
    if not low <= seconds <= high:
        yield f"limit in {seconds / 60:.0f} min instead of {(room - heap) / rate / 60:.0f} to {room / rate / 60:.0f}"


def at_minute(pages, minute):
    """Returns the first page from a minute on; without one, the last page if it is nearly that old."""
    later = [page for page in pages if page["minute"] >= minute]
    return later[0] if later else next((page for page in pages[-1:] if page["minute"] >= minute - 0.6), None)


def wrong(situation, records):
    """Returns lists of the minute, what is wrong, the state and the sentence."""
    found = []
    for run in sorted({record["run"] for record in records if record["face"] == "page"}):
        pages = [record for record in records if record["face"] == "page" and record["run"] == run]
        plan = Plan(records, run)
        found += wrong_states(situation, pages)
        found += unsteady(pages)
        for minute in (5, 10):
            page = at_minute(pages, minute)
            if page:
                found += [(page, what) for check in (wrong_rows, wrong_forecast) for what in check(situation, page, plan)]
    first = {}
    for page, what in found:
        first.setdefault((page["run"], what), []).append(page)
    return [[situation.name, f"{pages[0]['minute']:.1f}" + (f" to {pages[-1]['minute']:.1f}, {len(pages)} times" if len(pages) > 1 else ""),
             what, pages[0]["state"].replace("_", " "), pages[0]["sentence"]] for (_, what), pages in first.items()]


def unlogged(situation, records):
    """Returns the changes for the worse that the page showed for a minute and that are not in the log."""
    last = None
    for record in changes(records, "page"):
        worse = record["state"] in ("watch", "act") and (last is None or STATES.index(record["state"]) > STATES.index(last))
        last = record["state"] if record["state"] in STATES else None
        near = [line for line in records if line["face"] == "log" and (line["run"], line["state"]) == (record["run"], record["state"])
                and abs(line["minute"] - record["minute"]) <= 1]
        if worse and not near:
            yield [situation.name, f"{record['minute']:.1f}", "log", f"has no line for {record['state']}"]


# ---- Tables


def summary(situation, records, faults):
    """Returns the row of a program: the truth, what the page said at minutes 3, 5 and 10, whether that was right, and the share that is not
    attributed."""
    pages = [record for record in records if record["face"] == "page" and record["run"] == 1]
    said = [at_minute(pages, minute) for minute in (3, 5, 10)]
    ended = [record for record in records if record["face"] == "end"]
    cells = [f"{page['state'].replace('_', ' ')}: {page['sentence']}" if page else
             (f"{ended[0]['state']} at {ended[0]['minute']:.1f}" if ended else "") for page in said]
    last = next((page for page in reversed(said) if page and page["account"] and page["account"].get("rows")), None)
    share = ""
    if last:
        unknown, _, grown = unattributed(last["account"])
        share = f"{unknown / MIB:.1f} of {grown / MIB:.1f} MiB, {unknown / max(grown, 1):.0%}"
    jdk = re.sub(r"\D*(\d+).*", r"\1", next((record.get("jdk", "") for record in records if record["face"] == "start"), ""))
    return [situation.name, jdk, situation.truth, *cells, share, "right" if not faults else "wrong: " + "; ".join(fault[2] for fault in faults)]


def print_tables(results, situations):
    known = {situation: records for situation in situations if (records := read(results, situation))}
    overview, rows, said, contradictions, wrongs = [], [], [], [], []
    compared = 0
    for situation, records in known.items():
        faults = wrong(situation, records)
        wrongs += faults
        overview.append(summary(situation, records, faults))
        rows.append([situation.name, situation.truth, *(cell(records, face) for face in FACES)])
        for record in changes(records, "page"):
            said.append([situation.name, f"{record['minute']:.1f}", record["state"].replace("_", " "), record.get("sentence", "")])
        compared += sum("contradiction" in record and record["face"] != "page" for record in records)
        for record in records:
            if record.get("contradiction"):
                contradictions.append([situation.name, f"{record['minute']:.1f}", record["face"], record["contradiction"]])
        contradictions.extend(unlogged(situation, records))
    starts = [record for records in known.values() for record in records if record["face"] == "start"]
    loads = [record["load"] for record in starts]
    print(f"\nStarted between {min(record['time'] for record in starts)} and {max(record['time'] for record in starts)} UTC, at a load of "
          f"{min(loads):.1f} to {max(loads):.1f}. A number is the minute after the start of the JVM.")
    right = sum(row[-1] == "right" for row in overview)
    measure.print_table(f"Right: {right} of {len(overview)}",
                        ["program", "JDK", "what is so", "minute 3", "minute 5", "minute 10", "not attributed", "right or wrong"], overview)
    measure.print_table("What was wrong", ["program", "minute", "what", "state", "sentence"], wrongs)
    measure.print_table("What each face concluded, and when it first did", ["program", "what is so", *FACES], rows)
    measure.print_table("What the page said", ["program", "minute", "state", "sentence"], said)
    measure.print_table(f"Contradictions at the same moment: {len(contradictions)} of {compared} comparisons",
                        ["program", "minute", "face", "what"], contradictions)
    return contradictions + wrongs
