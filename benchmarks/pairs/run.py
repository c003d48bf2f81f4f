"""Records what mallometer says of leaks that other people have reported, compared with the version or the use that does not leak.

candidates.md has the reports. Each pair (of twins) consists of two JVMs under the same load of Loads.java: one with the version that leaks,
one with the fixed version. The JDK changes from pair to pair, and so does whether the library is preloaded or attached. The page is read
every 15 seconds. The amount of each event is known without mallometer: --reproduce runs both twins without mallometer and measures it. The
script prints when the right name was first reported, whether diagnosis and amounts were right, and what was reported of the twin that does
not leak. A pair whose files are complete is not run again without --again.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import typing

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "diagnosis"), str(HERE.parent), str(HERE.parents[1] / "samples/leaky-service/e2e")]

import measure
import truth
from processes import get
from truth import GRAVE, MIB, QUIET, Situation, compile_programs

diagnosis = measure.runner("diagnosis")
RESULTS = measure.TARGET / "pairs"
REPRODUCED = "reproduced.json"
WAYS = ("preloaded", "attached")
MINUTES = 12
PRODUCT_MINUTES = 20
# The minute at which the library is attached to a running JVM.
ATTACH_MINUTE = 0.5
TWINS = ("leaking", "fixed")
LEVELDB = ("org.fusesource.leveldbjni:leveldbjni-all:1.8",)
# The option of a twin that uses the library as documented.
RIGHT = ("-Dright=true",)
GRPC = "io.grpc:grpc-netty-shaded:1.48.1"
QUIC = "io.netty.incubator:netty-incubator-codec-native-quic"
TCNATIVE = "io.netty:netty-tcnative-boringssl-static"
BLACKBIRD = ("com.fasterxml.jackson.module:jackson-module-blackbird:2.15.2",)
HADOOP = ("org.apache.hadoop:hadoop-client-api:3.3.4", "org.apache.hadoop:hadoop-client-runtime:3.3.4")


@dataclasses.dataclass(frozen=True)
class Pair:
    """Two twins; a whole product has only the one that does not leak."""

    # The number of the row in candidates.md.
    number: int
    name: str
    # The artifacts of the version that leaks and of the one that does not.
    leaking: tuple
    fixed: tuple
    # The right statement to a user.
    truth: str
    # The row of the account, and what each event adds to it in the twin that leaks; None if that changes with collections.
    row: str
    amount: typing.Optional[int]
    # The source of the amount.
    known: str
    # These are like those of a Situation. For garbage it is enough that a finding says at some time that a collection frees it.
    says: tuple = ()
    not_says: tuple = ()
    grows: tuple = ("site",)
    states: tuple = GRAVE
    heap: int = 128
    options: tuple = ()
    # The options of the twin that does not leak.
    fixed_options: tuple = ()
    versions: tuple = (17, 25)
    tuned: bool = False
    garbage: bool = False
    # The class with the load.
    main: str = "Loads"

    @property
    def twins(self):
        return TWINS if self.main == "Loads" else TWINS[1:]

    def class_path(self, twin):
        wanted = getattr(self, twin)
        return measure.artifacts(f"pairs-{self.name}-{twin}", wanted) if wanted else ""

    def situation(self, twin):
        common = {"minutes": MINUTES, "program": (self.name,), "heap": self.heap, "limit": 2048}
        if twin == "fixed":
            return Situation(f"{self.name} fixed", "does not leak", options=self.options + self.fixed_options, states=QUIET, **common)
        return Situation(f"{self.name} leaking", self.truth, options=self.options, states=self.states, says=self.says, not_says=self.not_says,
                         grows=self.grows, **common)


def versions(artifact, *pair):
    return {"leaking": (f"{artifact}:{pair[0]}",), "fixed": (f"{artifact}:{pair[1]}",)}


ANY = (*GRAVE, *QUIET)
NO_LEAK = ("is a leak", "leaks")
GARBAGE = ("collection",)
MEASURED = "growth of the process without mallometer, less that of the twin"
# The pairs in the order of "First in line", followed by the reserve.
PAIRS = (
    Pair(1, "zstd-jni", **versions("com.github.luben:zstd-jni", "1.5.6-2", "1.5.6-3"), truth="close() of a dictionary by reference does not free it",
         row="site:Dictionaries.prepare", amount=401_500, known=MEASURED, says=(r"Dictionaries\.prepare",)),
    Pair(8, "rocksdbjni", **versions("org.rocksdb:rocksdbjni", "7.7.3", "7.10.2"), truth="multiGetByteBuffers loses the copies of its arrays",
         row="site:Batch.read", amount=8_000, known="two arrays of 1,000 numbers of 4 bytes", says=(r"Batch\.read",)),
    Pair(6, "aws-crt", **versions("software.amazon.awssdk.crt:aws-crt", "0.30.8", "0.30.9"),
         truth="each S3Client loses its TLS options, which hold the TLS context",
         row="site:Buckets.secure", amount=975_000, known=MEASURED, says=(r"Buckets\.secure",)),
    Pair(12, "tokenizers", **versions("ai.djl.huggingface:tokenizers", "0.29.0", "0.30.0"), truth="each read of an array loses a copy of it",
         row="site:Vectors.copy", amount=16_384, known="4,096 numbers of 4 bytes", says=(r"Vectors\.copy",)),
    Pair(15, "xgboost4j", **versions("ml.dmlc:xgboost4j_2.12", "2.0.3", "2.1.0"), truth="a matrix that is refused loses its copies",
         row="site:Measurements.load", amount=88_008, known="1,001 numbers of 8 bytes and 20,000 of 4 bytes", says=(r"Measurements\.load",)),
    Pair(5, "HdrHistogram", **versions("org.hdrhistogram:HdrHistogram", "2.1.8", "2.1.9"), truth="Inflaters wait for a collection",
         row="site:Latencies.receive", amount=None, known="collections free it", says=(r"Latencies\.receive",), not_says=NO_LEAK, states=ANY, heap=512, garbage=True),
    Pair(32, "dynamodb-enhanced", **versions("software.amazon.awssdk:dynamodb-enhanced", "2.19.26", "2.19.28"), truth="each schema adds classes",
         row="count:classes", amount=21, known="a constructor, ten getters and ten setters; jstat counts 21.6", says=("classes/min",), grows=("metaspace",),
         heap=256),
    Pair(30, "hedera-sdk", ("com.hedera.hashgraph:sdk:2.17.2", GRPC), ("com.hedera.hashgraph:sdk:2.17.3", GRPC), truth="each client leaves its threads",
         row="count:threads", amount=2, known="a pool has a thread for each processor; the kernel counts 2.07", says=("threads/min",), grows=("stacks",),
         heap=256),
    Pair(38, "lucene-core", **versions("org.apache.lucene:lucene-core", "10.3.0", "10.3.0"), truth="mappings of deleted files stay",
         row="file:deleted files", amount=800_000, known="100,000 numbers of 8 bytes", says=(r"deleted|\.dvd",), grows=(), states=ANY,
         heap=256, fixed_options=("-Dorg.apache.lucene.store.MMapDirectory.sharedArenaMaxPermits=1",), versions=(25,)),
    Pair(37, "temporary-buffers", (), (), truth="each thread keeps a direct buffer as large as its largest write", row="site:Records.write", amount=131_072,
         known="the buffer of a thread grows by 128 KiB", says=(r"Records\.write",), heap=256, fixed_options=("-Djdk.nio.maxCachedBufferSize=65536",)),
    Pair(4, "snappy-java", **versions("org.xerial.snappy:snappy-java", "1.1.2", "1.1.2.1"), truth="each stream that is not closed takes an Inflater",
         row="site:Version.show", amount=None, known="after a collection the JDK keeps the Inflaters and uses them again", says=(r"Version\.show",),
         not_says=NO_LEAK, states=ANY, heap=512, options=("-Xms512m",)),
    Pair(44, "netty-buffer", **versions("io.netty:netty-buffer", "4.1.113.Final", "4.1.114.Final"), truth="an allocator that is dropped loses its chunk",
         row="site:Messages.allocate", amount=614_400, known="a chunk is ten times as large as its first buffer; nine tenths are written",
         says=(r"Messages\.allocate",), options=("-XX:MaxDirectMemorySize=1g", "-Dio.netty.tryReflectionSetAccessible=true",
                                                "--add-opens=java.base/java.nio=ALL-UNNAMED")),
    Pair(2, "zstd-streams", ("com.github.luben:zstd-jni:1.5.6-3",), ("com.github.luben:zstd-jni:1.5.6-3",), truth="streams that are flushed are never closed",
         row="site:Exports.compress", amount=618_000, known=MEASURED, says=(r"Exports\.compress",), fixed_options=RIGHT),
    Pair(58, "leveldbjni", LEVELDB, LEVELDB, truth="batches are never closed", row="site:Uploads.prepare", amount=65_536,
         known="64 KiB for each batch", says=(r"Uploads\.prepare",), fixed_options=RIGHT, tuned=True),
    Pair(11, "codec-quic", *((f"{QUIC}:0.0.{version}.Final:linux-x86_64",) for version in (45, 46)),
         truth="each QUIC context loses copies of the names of those it trusts", row="site:Listeners.create", amount=16_856,
         known="the names of the 144 authorities that both JDKs trust, and 16 bytes of malloc for each", says=(r"Listeners\.create",)),
    Pair(9, "netty-tcnative", *((f"{TCNATIVE}:2.0.{version}.Final", "io.netty:netty-handler:4.1.48.Final") for version in (29, 30)),
         truth="each TLS engine loses its state though it is released", row="site:Sessions.create", amount=10_000,
         known="250 engines of 40 bytes, for which malloc takes 48", says=(r"Sessions\.create",)),
    Pair(24, "parquet", *((f"org.apache.parquet:parquet-hadoop:{version}", *HADOOP) for version in ("1.12.3", "1.13.0")),
         truth="contexts of zstd wait for a collection", row="site:Pages.decompress", amount=None, known="collections free it",
         says=(r"Pages\.decompress",), not_says=NO_LEAK, states=ANY, heap=512, garbage=True),
    Pair(13, "tokenizers-overflow", **versions("ai.djl.huggingface:tokenizers", "0.28.0", "0.30.0"), truth="what is cut off of a text is lost",
         row="site:Texts.tokenize", amount=114_000, known=MEASURED, says=(r"Texts\.tokenize",)),
    Pair(26, "curator", **versions("org.apache.curator:curator-framework", "2.11.0", "2.11.1"), truth="Deflaters wait for a collection",
         row="site:Configurations.compress", amount=None, known="collections free it", says=(r"Configurations\.compress",), not_says=NO_LEAK, states=ANY,
         heap=512, garbage=True),
    Pair(36, "blackbird", BLACKBIRD, BLACKBIRD, truth="each mapper adds classes", row="count:classes", amount=10,
         known="one for each of ten properties; the JVM counts as many", says=("classes/min",), grows=("metaspace",), heap=256, fixed_options=RIGHT),
)


def product(name, *artifacts, **other):
    return Pair(0, name, (), artifacts, "does not leak", "count:rounds", 0, "", main="Products", **{"heap": 512, **other})


OPENED = tuple(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in (
    "java.lang", "java.lang.invoke", "java.nio", "java.util", "java.util.concurrent", "sun.nio.ch", "sun.security.action", "sun.util.calendar"))
# Flink 1.20 and Spark 3.5 do not support JDK 25.
PRODUCTS = (
    product("Kafka", "org.apache.kafka:kafka_2.13:4.1.0", "org.apache.kafka:kafka-tools:4.1.0"),
    product("Flink", *(f"org.apache.flink:flink-{part}:1.20.1" for part in ("streaming-java", "clients", "connector-datagen")), options=OPENED, versions=(17,)),
    product("Lucene", "org.apache.lucene:lucene-core:10.3.0", versions=(25,)),
    product("Spark", "org.apache.spark:spark-sql_2.13:3.5.5", options=OPENED, versions=(17,), heap=1024),
    product("Jetty", "org.eclipse.jetty:jetty-server:12.0.16"),
    product("Tomcat", "org.apache.tomcat.embed:tomcat-embed-core:10.1.34"),
    product("H2", "com.h2database:h2:2.3.232"),
    product("DuckDB", "org.duckdb:duckdb_jdbc:1.4.1.0"),
)


def program(pair, twin, home, class_path, directory):
    """Returns the command of a twin without mallometer."""
    options = measure.access_options(measure.java_version(home))
    situation = pair.situation(twin)
    return [str(home / "bin/java"), f"-Xmx{pair.heap}m", *options, *situation.options, f"-Djava.io.tmpdir={directory}", "-cp",
            f"{class_path}:{pair.class_path(twin)}", pair.main, pair.name, str(directory / "data"), pair.row]


class Twin(diagnosis.Run):
    """One JVM of a pair under mallometer."""

    def __init__(self, pair, twin, home, way, class_path, arguments):
        super().__init__(dataclasses.replace(pair.situation(twin), minutes=arguments.minutes), home, class_path, None, arguments)
        self.pair, self.twin, self.home, self.way = pair, twin, home, way
        self.attached = way == "preloaded"
        self.write(face="way", state=way, commit=arguments.commit)

    def command(self):
        counts = self.way == "preloaded"
        java, *options = program(self.pair, self.twin, self.home, self.class_path, self.directory)
        preload = [str(self.arguments.build / "bin/mallometer"), "run", "--"] if counts else []
        return [*preload, java, f"-javaagent:{self.agent}=port={self.port}{'' if counts else ',attach=off'}", *options]

    def said(self, face, diagnosis, contradiction=""):
        super().said(face, diagnosis, contradiction)
        self.write(face="findings", state="", texts=[finding["text"] for finding in diagnosis.get("findings", []) if finding["topic"] == "garbage"])

    def ask(self):
        if not self.attached and self.minute() >= ATTACH_MINUTE:
            self.attached = True
            attach = subprocess.run([self.java, "-jar", str(self.agent), "attach", str(self.process.pid)], capture_output=True, text=True, check=False)
            self.write(face="attach", state=str(attach.returncode), sentence=attach.stdout + attach.stderr)
        super().ask()
        try:
            sites = json.loads(get(f"{self.url}/nativememory/leaks"))
        except OSError:
            return
        self.write(face="verdicts", state="", sites=[
            {"name": site["site"]["name"], "verdict": site["verdict"], "sentence": site["sentence"]}
            for site in sites if site["verdict"].upper() in diagnosis.SUSPECTED])


# ---- The same without mallometer


def figures(process, home):
    """Returns the counts of the kernel and of the JVM about a process."""
    status = dict(re.findall(r"^(\w+):\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text(), re.M))
    mappings = pathlib.Path(f"/proc/{process.pid}/maps").read_text()
    classes = subprocess.run([str(home / "bin/jstat"), "-class", str(process.pid)], capture_output=True, text=True, check=False).stdout.split()
    return {"anonymous bytes": int(status["RssAnon"]) << 10, "threads": int(status["Threads"]), "deleted mappings": mappings.count("(deleted)"),
            "classes": int(classes[-5]) if len(classes) > 5 else 0}


def reproduce(pair, twin, home, class_path, minutes):
    """Returns the growth from the first half minute to the end, and the number of events meanwhile."""
    with tempfile.TemporaryDirectory(prefix="mallometer-pairs-") as directory:
        command = program(pair, twin, home, class_path, pathlib.Path(directory))
        command[1:1] = [f"-Xms{pair.heap}m", "-XX:+AlwaysPreTouch", "-XX:TieredStopAtLevel=1"]
        with open(pathlib.Path(directory, "log"), "w+", encoding="utf-8") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
            readings = []
            try:
                for end in (minutes / 3, minutes):
                    while len(readings) * 5 < end * 60 and process.poll() is None:
                        time.sleep(5)
                        log.flush()
                        events = re.findall(rf"^planted\t.*\t{pair.row}=(\d+)", pathlib.Path(log.name).read_text(errors="replace"), re.M)
                        if process.poll() is None:
                            readings.append({"events": int(events[-1]) if events else 0, **figures(process, home)})
            finally:
                process.kill()
                process.wait()
            log.seek(0)
            text = log.read()
    if len(readings) * 5 < minutes * 60:
        raise measure.Unavailable("ended: " + text[-2000:])
    first, last = readings[len(readings) // 3], readings[-1]
    grown = {name: last[name] - first[name] for name in last}
    row = [pair.name, twin, grown["events"], f"{grown['anonymous bytes'] / MIB:.1f}",
            *(f"{grown[name] / max(grown['events'], 1):.4g}" for name in ("anonymous bytes", "threads", "classes")), grown["deleted mappings"]]
    measure.progress(str(row))
    return row


def reproduced(results):
    """Returns the last measurement by --reproduce of each twin."""
    file = results / REPRODUCED
    return json.loads(file.read_text()) if file.exists() else {}


def print_reproduced(results):
    measure.print_table("Without mallometer, in the last two thirds of some minutes",
                        ["pair", "twin", "events", "anonymous MiB", "bytes each", "threads each", "classes each", "deleted mappings"],
                        list(reproduced(results).values()))


# ---- What was said


def read(results, pair, twin):
    """Returns the records of a twin, with amounts in place of the events of its row. A load may also count work that adds nothing."""
    records = truth.read(results, pair.situation(twin))
    amount = pair.amount if twin == "leaking" else 0
    if amount is None:
        return [record for record in records if record["face"] != "planted"]
    return [record | {"rows": {pair.row: record["rows"].get(pair.row, 0) * amount}} if record["face"] == "planted" else record for record in records]


def pages(records):
    return [record for record in records if record["face"] == "page"]


def begin(records):
    """Returns the minute at which mallometer began to count."""
    return next((record["minute"] for record in records if record["face"] == "attach"), 0)


def minutes_to_name(pair, records, tells=()):
    """Returns the minute at which a sentence (for garbage, a finding) first had the name; and the texts that contain more."""
    situation = pair.situation("leaking")
    for record in records:
        sentence = record["sentence"] if record["face"] == "page" and record["state"] in situation.states else ""
        texts = [sentence, *(record["texts"] if record["face"] == "findings" and pair.garbage else ())]
        if any(all(re.search(says, text) for says in (*situation.says, *tells)) for text in texts):
            return record["minute"] - begin(records)
    return None


def alarms(records):
    """Returns the warnings about a twin that does not leak: pages that warn, and verdicts of a leak."""
    said = {page["state"]: page for page in reversed(pages(records)) if page["state"] in GRAVE}
    found = [f"{state} at {page['minute']:.1f}: {page['sentence']}" for state, page in said.items()]
    verdicts = {site["name"]: record["minute"] for record in reversed(records) if record["face"] == "verdicts"
                for site in record["sites"] if site["verdict"] == "leak"}
    return found + [f"leak at {minute:.1f}: {name}" for name, minute in verdicts.items()]


def found_in(account, name):
    """Returns the growth that an account has for a row of the plan, and the least difference that counts. A site is identified by its
    method."""
    kind, _, method = name.partition(":")
    if kind != "site":
        return truth.measured(account, name)
    rows = [row for row in account["rows"] if row["kind"] == "site" and re.search(rf"\b{re.escape(method)}$", row["name"])]
    begin, end = truth.instant(account["from"]), truth.instant(account["to"])
    seconds = end - begin - 2 * statistics.fmean(truth.seconds_of_ends(begin, end))
    return sum(row["bytesPerSecond"] for row in rows) * seconds, truth.LEAST_BYTES


def amounts(records):
    """Returns, for each row of the plan at the last page with an account, the found and the true value, and whether it is right."""
    page = next((page for page in reversed(pages(records)) if page["account"] and page["account"].get("rows")), None)
    if not page:
        return []
    rows = []
    for name, true in truth.Plan(records, 1).growth(truth.instant(page["account"]["from"]), truth.instant(page["account"]["to"])).items():
        found, least = found_in(page["account"], name)
        rows.append((name, found, true, abs(found - true) <= max(truth.ROW_SHARE * abs(true), least)))
    return rows


def amount_text(rows):
    return "; ".join(f"{found:.0f} of {true:.0f}" if name.startswith("count:") else f"{found / MIB:.1f} of {true / MIB:.1f} MiB"
                     for name, found, true, _ in rows)


def last_verdict(situation, records):
    """Returns the last verdict on the site that leaks."""
    last = next((record["sites"] for record in reversed(records) if record["face"] == "verdicts"), [])
    return next((site["verdict"] for site in last if any(re.search(text, site["name"]) for text in situation.says)), "none")


def right_at_end(pair, records):
    situation, said = pair.situation("leaking"), pages(records)
    if not said or any(re.search(text, page["sentence"]) for text in situation.not_says for page in said):
        return False
    if pair.garbage:
        return minutes_to_name(pair, records, GARBAGE) is not None
    return said[-1]["state"] in situation.states and all(re.search(text, said[-1]["sentence"]) for text in situation.says)


def jdk_of(start):
    return re.sub(r"\D*(?:1\.)?(\d+).*", r"\1", start["jdk"])


def describe(pair, records):
    """Returns a row of the table, and what the sums need."""
    leaking, fixed = (records[twin] for twin in TWINS)
    situation = pair.situation("leaking")
    named, right = minutes_to_name(pair, leaking), right_at_end(pair, leaking)
    rows = amounts(leaking)
    known = None if pair.amount is None else bool(rows) and all(ok for *_, ok in rows)
    alarmed = alarms(fixed)
    start = next(record for record in leaking if record["face"] == "start")
    way = next(record["state"] for record in leaking if record["face"] == "way")
    said = pages(leaking)[-1]["sentence"] if pages(leaking) else ""
    row = [pair.number, pair.name, jdk_of(start), way, f"{start['load']:.0f}", pair.truth,
           "never" if named is None else f"{named:.1f}", judged(right), amount_text(rows), judged(known), last_verdict(situation, leaking),
           "; ".join(alarmed) or "none", said]
    warned = any(page["state"] in GRAVE for page in pages(leaking))
    return row, {"named": named, "right": right, "amounts": known, "warned": warned, "alarm": bool(alarmed)}


def faults_of(pair, records):
    """Returns the first page of each fault, by the rules of the diagnoses."""
    first = {}
    situation = pair.situation("leaking")
    if pair.garbage:
        situation = dataclasses.replace(situation, says=())
    for check in (lambda: truth.wrong_states(situation, pages(records)), lambda: truth.unsteady(pages(records))):
        for page, what in check():
            first.setdefault(what, page)
    if pages(records) and not right_at_end(pair, records):
        first.setdefault(f"not told: {pair.truth}", pages(records)[-1])
    return [(page, what) for what, page in first.items()]


def judged(right):
    return {None: "not known", True: "right", False: "wrong"}[right]


def percentile(values, share):
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def sums(kind, told, minutes):
    if not told:
        return None
    # A pair that was never named counts with all of its minutes.
    times = [one["named"] if one["named"] is not None else minutes for one in told]
    known = [one for one in told if one["amounts"] is not None]
    found = sum(one["named"] is not None for one in told)
    right, alarmed = sum(one["right"] for one in told), sum(one["alarm"] for one in told)
    warned = sum(one["warned"] for one in told) + alarmed
    return [kind, len(told), f"{sum(one['right'] and one['warned'] for one in told)} of {warned}", f"{found} of {len(told)}", f"{statistics.median(times):.1f}", f"{percentile(times, 0.95):.1f}",
            sum(time <= 10 for time in times), sum(time <= 3 for time in times), right, f"{sum(one['amounts'] for one in known)} of {len(known)}",
            bound(alarmed, len(told))]


def results_of(minutes, products=False):
    usual, results = (PRODUCT_MINUTES, RESULTS / "products") if products else (MINUTES, RESULTS)
    return results if minutes == usual else results / f"{minutes:g}"


def is_complete(records):
    return any(record["face"] == "complete" for record in records)


def bound(alarmed, number):
    """Returns how many of a number of JVMs there was an alarm on; if on none, also the highest rate of alarms at which that has a chance of
    5 %."""
    return f"{alarmed} of {number}" + ("" if alarmed else f", at most {1 - 0.05 ** (1 / number):.0%}")


def states_seen(records):
    """Returns each state of the pages, with the minute at which it began."""
    seen = [page for page, before in zip(pages(records), [None, *pages(records)]) if not before or page["state"] != before["state"]]
    return ", ".join(f"{page['state'].replace('_', ' ')} {page['minute']:.1f}" for page in seen)


def print_products(results, minutes):
    recorded = {product: read(results, product, "fixed") for product in PRODUCTS}
    recorded = {product: records for product, records in recorded.items() if is_complete(records)}
    rows = []
    for product, records in recorded.items():
        start, way = (next(record for record in records if record["face"] == face) for face in ("start", "way"))
        rows.append([product.name, product.fixed[0].split(":")[2], jdk_of(start), way["state"], f"{start['load']:.0f}", states_seen(records),
                     "; ".join(alarms(records)) or "none", (pages(records) or [{"sentence": ""}])[-1]["sentence"]])
    measure.print_table(f"Whole products, {minutes:g} minutes each",
                        ["product", "version", "JDK", "way in", "load", "states seen", "alarms", "last sentence"], rows)
    twins = [records for records in (read(RESULTS, pair, "fixed") for pair in PAIRS) if is_complete(records)]
    every = [*twins, *recorded.values()]
    if every:
        print(f"\nOf {len(twins)} twins and {len(recorded)} products, there was an alarm on {bound(sum(bool(alarms(records)) for records in every), len(every))}.")


def print_tables(results, minutes):
    recorded = {}
    for pair in PAIRS:
        records = {twin: read(results, pair, twin) for twin in TWINS}
        if all(is_complete(records[twin]) for twin in TWINS):
            recorded[pair] = records
    described = {pair: describe(pair, records) for pair, records in recorded.items()}
    starts = [record for records in recorded.values() for twin in TWINS for record in records[twin] if record["face"] == "start"]
    loads = [record["load"] for record in starts] or [math.nan]
    print(f"\nEach pair ran for {minutes:g} minutes, at a load of {min(loads):.0f} to {max(loads):.0f} when it was started. Minutes count from the start, or from "
          "the attach. Precision is the share of warnings that were right at the end, and counts those on twins that do not leak.")
    rows = [sums(kind, [told for pair, (_, told) in described.items() if pair.tuned == tuned], minutes)
            for kind, tuned in (("untouched", False), ("tuned", True))]
    measure.print_table("Sums", ["pairs", "number", "precision", "recall", "median minutes to the name", "95th percentile", "within 10", "within 3",
                                 "diagnosis right", "amounts right", "twins with an alarm"], [row for row in rows if row])
    measure.print_table(
        "Pairs", ["row", "pair", "JDK", "way in", "load", "what a person should be told", "minutes to the name", "diagnosis", "amount in the last account",
                  "amount", "verdict", "alarms on the twin", "last sentence"], [row for row, _ in described.values()])
    faults = [[pair.name, f"{page['minute']:.1f}", what, page["state"].replace("_", " "), page["sentence"]]
              for pair, records in recorded.items() for page, what in faults_of(pair, records["leaking"])]
    measure.print_table("What was wrong from minute 5 on", ["pair", "minute", "what", "state", "sentence"], faults)
    measure.print_table("Amounts", ["pair", "leaking", "fixed", "row", "each event", "how it is known"],
                        [[pair.name, " ".join(pair.leaking), " ".join(pair.fixed + pair.fixed_options), pair.row,
                          "" if pair.amount is None else pair.amount, pair.known] for pair in recorded])
    print_reproduced(results)


def parse_arguments():
    parser = argparse.ArgumentParser(prog="bin/soak pairs", description=__doc__.splitlines()[0])
    parser.add_argument("--next", type=int, help="run so many pairs that have no complete result, and print the tables of all")
    parser.add_argument("--products", action="store_true", help="run whole products that do not leak, in place of the pairs")
    parser.add_argument("--pair", choices=[pair.name for pair in (*PAIRS, *PRODUCTS)], action="append", help="only this pair or product (repeatable)")
    parser.add_argument("--minutes", type=float, help=f"how long a pair ({MINUTES}) or a product ({PRODUCT_MINUTES}) runs; results of other times are kept apart")
    parser.add_argument("--together", type=int, default=4, help="how many JVMs at the same time (4)")
    parser.add_argument("--jdk", type=pathlib.Path, action="append", help="a JDK's directory (repeatable: by turns). Default: JDK 17 and 25")
    parser.add_argument("--again", action="store_true", help="run also what has a complete result")
    parser.add_argument("--reproduce", type=float, metavar="MINUTES", help="run the twins without mallometer for so long, and print what each event adds")
    arguments = parser.parse_args()
    # diagnosis.Run reads these.
    arguments.minutes = arguments.minutes or (PRODUCT_MINUTES if arguments.products else MINUTES)
    arguments.results = results_of(arguments.minutes, arguments.products)
    arguments.build, arguments.page_only, arguments.inputs = measure.ROOT, True, False
    arguments.commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True, check=True).stdout.strip()
    return arguments


def choices(pair, homes):
    """Returns the JDK of a pair or product, and whether it is preloaded or attached, by its place among them."""
    place = next(among.index(pair) for among in (PAIRS, PRODUCTS) if pair in among)
    able = [home for home in homes if measure.java_version(home) in pair.versions] or homes
    return able[place % len(able)], WAYS[place // 2 % len(WAYS)]


def run_all(arguments, chosen, homes, one_twin):
    """Runs a function for each twin of pairs or of products, and returns the results by pair and twin."""
    arguments.results.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="mallometer-pairs-") as classes:
        # The class Situation counts what was planted.
        class_path = compile_programs(homes[0], classes)
        everything = ":".join([*(pair.class_path(pair.twins[0]) for pair in (PRODUCTS if arguments.products else PAIRS)), class_path])
        measure.compile_java(homes[-1], [HERE / f"{chosen[0].main}.java"], classes, everything)
        with concurrent.futures.ThreadPoolExecutor(arguments.together) as together:
            runs = {}
            for pair in chosen:
                for twin in pair.twins:
                    runs[pair, twin] = together.submit(one_twin, pair, twin, classes)
                    if len(runs) < arguments.together:
                        time.sleep(diagnosis.APART_SECONDS)
    for (pair, twin), run in runs.items():
        if run.exception():
            measure.progress(f"{pair.name} {twin}: {run.exception()}")
    return {key: None if run.exception() else run.result() for key, run in runs.items()}


def main():
    arguments = parse_arguments()
    homes = arguments.jdk or list(measure.find_jdks((17, 25)).values())
    chosen = [pair for pair in (PRODUCTS if arguments.products else PAIRS) if not arguments.pair or pair.name in arguments.pair]
    if not chosen:
        sys.exit("--pair names no product with --products, and no pair without it")
    print(f"## {'Products' if arguments.products else 'Pairs'}\n\n{measure.describe_machine()}")
    if arguments.reproduce:
        rows = run_all(arguments, chosen, homes, lambda pair, twin, classes: reproduce(pair, twin, choices(pair, homes)[0], classes, arguments.reproduce))
        known = reproduced(arguments.results) | {" ".join(key): row for key, row in ((row[:2], row) for row in rows.values() if row)}
        (arguments.results / REPRODUCED).write_text(json.dumps(known))
        print_reproduced(arguments.results)
        return
    missing = [pair for pair in chosen if arguments.again or not all(
        is_complete(truth.read(arguments.results, pair.situation(twin))) for twin in pair.twins)]
    if missing[:arguments.next]:
        run_all(arguments, missing[:arguments.next], homes, lambda pair, twin, classes: Twin(
            pair, twin, *choices(pair, homes), classes, arguments).watch())
    of_pairs, of_products = (MINUTES, arguments.minutes) if arguments.products else (arguments.minutes, PRODUCT_MINUTES)
    print_tables(results_of(of_pairs), of_pairs)
    print_products(results_of(of_products, products=True), of_products)


if __name__ == "__main__":
    main()
