#!/bin/sh
# Java's default lookup of C functions (JDK 22 and newer) finds the same names with and without the library: of the C
# library, of the JVM, of the launcher and of mallometer itself. malloc is mallometer's.
#
#   java_lookup.sh LIBRARY
#
# Looks for a JDK in JAVA_HOME and /usr/lib/jvm; skipped (77) without.
set -eu
library=$(realpath "$1")
program=$(cd "$(dirname "$0")" && pwd)/Lookup.java

home=
for candidate in ${JAVA_HOME:+"$JAVA_HOME"} /usr/lib/jvm/*; do
  if [ ! -x "$candidate/bin/javac" ] || [ ! -r "$candidate/release" ]; then continue; fi
  version=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$candidate/release")
  if [ "${version:-0}" -ge 22 ]; then home=$candidate; fi
done
[ -n "$home" ] || { echo "needs a JDK 22 or newer"; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
needed=$(ldd "$home/lib/libsyslookup.so" | grep -o '/[^ ]*')
for file in $needed "$home/lib/server/libjvm.so" "$home/lib/libjava.so" "$home/lib/libjli.so" "$home/bin/java" "$library"; do
  nm -D --defined-only "$file" | awk '{ sub(/@.*/, "", $3); print $3 }'
done | sort -u >"$work/names"

"$home/bin/javac" -J-XX:+UseSerialGC -J-XX:TieredStopAtLevel=1 -d "$work" "$program"
java="$home/bin/java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 --enable-native-access=ALL-UNNAMED -cp $work Lookup"
$java "$work/names" >"$work/plain"
for mode in usable header; do
  LD_PRELOAD=$library MALLOMETER_ACCOUNTING=$mode $java "$work/names" "$library" >"$work/preloaded"
  if ! cmp -s "$work/plain" "$work/preloaded"; then
    echo "$mode: found in one case only, without the library (<) or with it (>):"
    diff "$work/plain" "$work/preloaded" | grep '^[<>]' | head -n 20
    exit 1
  fi
done
echo "$(wc -l <"$work/plain") of $(wc -l <"$work/names") names found"
