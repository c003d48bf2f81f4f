"""The programs whose diagnosis is checked, each with the truth about its memory."""

import dataclasses
import pathlib

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
