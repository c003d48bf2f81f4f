#!/bin/bash
# Real programs do the same with the library preloaded as without, in both accounting modes: same output, same exit code.
#
#   real_programs.sh LIBRARY [PROGRAM ...]      programs: sqlite python git jvm javac chromium; all by default
#
# Needs the programs: sqlite3, python3, git, JDKs from 17 on (in JDK_HOMES or under /usr/lib/jvm), chromium. Missing
# ones are reported and skipped; with INSTALL=true, as root, Debian's packages of them are installed first. Takes
# minutes.
set -u
library=$(realpath "$1")
shift
programs=${*:-sqlite python git jvm javac chromium}
repository=$(cd "$(dirname "$0")" && git rev-parse --show-toplevel 2>/dev/null)
# The commit that all runs read, because others may commit meanwhile.
commit=$(git -C "$repository" rev-parse HEAD 2>/dev/null)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

if ! LD_PRELOAD=$library MALLOMETER_LOG=info /bin/true 2>&1 | grep -q ', counting$'; then
  echo "preloaded, $library does not count: nothing could be shown"
  exit 1
fi

needs() { # COMMAND PACKAGE
  command -v "$1" >/dev/null && return 0
  if [ "${INSTALL:-false}" = true ] && [ "$(id -u)" = 0 ]; then
    echo "installing $2"
    apt-get install -y -q --no-install-recommends "$2" >"$work/apt.log" 2>&1 && return 0
    tail -n 3 "$work/apt.log"
  fi
  echo "$1: left out, it is not installed (Debian: $2)"
  return 1
}

# try NAME FUNCTION [ARGUMENTS ...]: runs a function three times that prints what matters, each in a directory of its
# own.
try() {
  local name=$1 run code
  shift
  for run in plain usable header; do
    rm -rf "$work/run"
    mkdir "$work/run"
    if [ "$run" = plain ]; then
      (cd "$work/run" && "$@") >"$work/$run.out" 2>"$work/$run.err"
    else
      (cd "$work/run" && export LD_PRELOAD="$library" MALLOMETER_ACCOUNTING=$run MALLOMETER_STACKS=java && "$@") >"$work/$run.out" 2>"$work/$run.err"
    fi
    code=$?
    echo "exit code $code" >>"$work/$run.out"
  done
  if [ ! -s "$work/plain.out" ] || ! grep -q '^exit code 0$' "$work/plain.out"; then
    echo "$name: does not work by itself"
    head -n 5 "$work/plain.err"
    failed=1
  fi
  for run in usable header; do
    if cmp -s "$work/plain.out" "$work/$run.out"; then
      echo "$name, $run: the same"
    else
      echo "$name, $run: DIFFERS"
      diff "$work/plain.out" "$work/$run.out" | head -n 10
      tail -n 10 "$work/$run.err"
      failed=1
    fi
  done
}

# ---- The programs -----------------------------------------------------------------------------------------------------

run_sqlite() {
  sqlite3 data.db <<'EOF'
create table t(id integer primary key, name text, amount real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000)
  insert into t select i, 'name ' || (i * 7919 % 10007), i * 0.5 from n;
create index by_name on t(name);
select count(*), sum(amount), count(distinct name) from t;
select name, count(*), sum(amount) from t group by name order by 3 desc, 1 limit 5;
select group_concat(substr(name, 6)) from (select name from t order by amount desc limit 200);
delete from t where id % 3 = 0;
vacuum;
pragma integrity_check;
EOF
}

run_python() {
  PYTHONMALLOC=malloc PYTHONHASHSEED=0 python3 - <<'EOF'
import ctypes, json, subprocess, sys, threading, zlib

data = {str(i): list(range(i % 50)) for i in range(20000)}
text = json.dumps(data)
print(len(text), zlib.crc32(text.encode()), json.loads(text) == data)

results = [0] * 16
def work(n):
    results[n] = sum(len(str(i) * (n + 1)) for i in range(20000))
threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
[t.start() for t in threads]
[t.join() for t in threads]
print(results)

print([subprocess.run(["sh", "-c", f"echo {i}; exit {i}"], capture_output=True).returncode for i in range(10)])
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.realloc.restype = ctypes.c_void_p
libc.realloc.argtypes = libc.free.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
p = libc.malloc(100)
ctypes.memset(p, 65, 100)
p = libc.realloc(p, 100000)
print(ctypes.string_at(p, 5))
libc.free(p)
try:
    import sqlite3
    db = sqlite3.connect(":memory:")
    db.execute("create table t(a, b)")
    db.executemany("insert into t values(?, ?)", ((i, "x" * (i % 100)) for i in range(50000)))
    print(db.execute("select sum(a), sum(length(b)) from t").fetchone())
except ImportError:
    print("python without sqlite3")
try:
    bytearray(1 << 62)
except MemoryError:
    print("MemoryError")
sys.exit(0)
EOF
}

run_git() {
  git clone -q --no-local --bare "$repository" copy.git &&
    git -C copy.git -c gc.pruneExpire=now gc -q &&
    git -C copy.git fsck --full --no-dangling &&
    git -C copy.git log "$commit" --stat --format='%H %an %s' | sha256sum &&
    git -C copy.git rev-list "$commit" --objects | sort | sha256sum &&
    git -C copy.git archive "$commit" | sha256sum
}

write_sources() {
  mkdir -p "$work/sources"
  for i in $(seq 500); do
    cat >"$work/sources/C$i.java" <<EOF
import java.util.*;
import java.util.function.*;
import java.util.stream.*;
public class C$i extends ArrayList<Map<String, List<? extends Number>>> {
  record Point<T extends Comparable<T>>(T x, T y, int number) {
    T larger() { return x.compareTo(y) > 0 ? x : y; }
  }
  sealed interface Shape permits Circle, Square {}
  record Circle(double radius) implements Shape {}
  record Square(double side) implements Shape {}
  static final Map<Integer, Function<Integer, Supplier<String>>> TABLE = new TreeMap<>();
  static { for (int i = 0; i < $i; i++) { final int n = i; TABLE.put(n, a -> () -> "C$i " + (a + n)); } }
  public static String call(int depth) {
    List<Point<Integer>> points = IntStream.range(0, depth).mapToObj(i -> new Point<>(i, depth - i, $i)).toList();
    Shape shape = depth % 2 == 0 ? new Circle(depth) : new Square(depth);
    String kind = shape instanceof Circle c ? "circle " + c.radius() : "square";
    return points.stream().map(Point::larger).collect(Collectors.groupingBy(n -> n % 7)).toString() + kind
        + (depth > 0 ? C$((i % 500 + 1)).call(depth - 1) : "");
  }
}
EOF
  done
}

run_javac() { # JDK
  mkdir classes && "$1/bin/javac" -nowarn -d classes "$work"/sources/*.java &&
    (cd classes && find . -name '*.class' | sort | xargs sha256sum | sha256sum && find . -name '*.class' | wc -l)
}

write_load() {
  mkdir -p "$work/load"
  cat >"$work/load/Load.java" <<'EOF'
import java.nio.ByteBuffer;
import java.util.*;
import java.util.concurrent.*;
import java.util.zip.*;

/** Native memory by Deflater, direct buffers and threads; heap garbage, so that collectors work. */
public class Load {
  static long work(int seed) throws Exception {
    Random random = new Random(seed);
    byte[] data = new byte[100_000];
    long sum = 0;
    List<byte[]> kept = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      for (int j = 0; j < data.length; j++) data[j] = (byte) (random.nextInt(20) + i);
      Deflater deflater = new Deflater(1 + i % 9);
      deflater.setInput(data);
      deflater.finish();
      byte[] packed = new byte[200_000];
      int length = deflater.deflate(packed);
      deflater.end();
      Inflater inflater = new Inflater();
      inflater.setInput(packed, 0, length);
      byte[] back = new byte[data.length];
      if (inflater.inflate(back) != data.length || !Arrays.equals(back, data)) throw new AssertionError();
      inflater.end();
      CRC32 crc = new CRC32();
      ByteBuffer buffer = ByteBuffer.allocateDirect(length);
      buffer.put(packed, 0, length).flip();
      crc.update(buffer);
      sum = sum * 31 + crc.getValue();
      kept.add(Arrays.copyOf(packed, length));
      if (kept.size() > 20) kept.remove(0);
    }
    return sum;
  }

  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(8);
    List<Future<Long>> results = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      final int seed = i;
      results.add(pool.submit(() -> work(seed)));
    }
    for (Future<Long> result : results) System.out.println(result.get());
    pool.shutdown();
    for (int i = 0; i < 500; i++) {
      Thread thread = new Thread(() -> Thread.currentThread().getName());
      thread.start();
      thread.join();
    }
    System.gc();
    Process child = new ProcessBuilder("sh", "-c", "echo child; exit 3").start();
    System.out.println(new String(child.getInputStream().readAllBytes()) + child.waitFor());
  }
}
EOF
}

run_jvm() { # JDK OPTIONS ...
  local jdk=$1
  shift
  "$jdk/bin/javac" -d . "$work/load/Load.java" && "$jdk/bin/java" -Xmx256m "$@" -cp . Load
}

run_chromium() {
  cat >page.html <<'EOF'
<!doctype html><title>page</title><canvas id=c width=300 height=300></canvas><ul id=list></ul>
<script>
const context = document.getElementById('c').getContext('2d');
for (let i = 0; i < 300; i++) { context.fillStyle = `hsl(${i}, 80%, 50%)`; context.fillRect(i, 0, 1, i); }
let sum = 0;
for (const byte of context.getImageData(0, 0, 300, 300).data) sum = (sum * 31 + byte) % 1000000007;
for (let i = 0; i < 500; i++) {
  const item = document.createElement('li');
  item.textContent = `item ${i} ${i * sum % 9973}`;
  document.getElementById('list').append(item);
}
</script>
EOF
  chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --user-data-dir="$PWD/profile" --dump-dom "file://$PWD/page.html"
}

# ---- All of them ------------------------------------------------------------------------------------------------------

jdks() {
  for home in ${JDK_HOMES:-} /usr/lib/jvm/*; do
    [ -x "$home/bin/javac" ] && realpath "$home"
  done | sort -u
}

for program in $programs; do
  case $program in
    sqlite) needs sqlite3 sqlite3 && try sqlite3 run_sqlite ;;
    python) needs python3 python3 && try python3 run_python ;;
    git)
      if [ -z "$repository" ]; then
        echo "git: left out, this is no clone"
      else
        needs git git && try git run_git
      fi
      ;;
    javac)
      needs javac openjdk-17-jdk-headless || continue
      write_sources
      for jdk in $(jdks); do try "javac of $(basename "$jdk")" run_javac "$jdk"; done
      ;;
    jvm)
      needs javac openjdk-17-jdk-headless || continue
      write_load
      for jdk in $(jdks); do
        for collector in G1 Z Serial; do
          try "java of $(basename "$jdk") with ${collector}GC" run_jvm "$jdk" "-XX:+Use${collector}GC"
        done
      done
      ;;
    chromium) needs chromium chromium && try chromium run_chromium ;;
    *)
      echo "unknown: $program"
      failed=1
      ;;
  esac
done
exit $failed
