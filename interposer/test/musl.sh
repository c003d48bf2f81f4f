#!/bin/sh
# The built library in programs of musl, over which nothing is counted: it needs nothing that musl lacks, the programs run
# as they do without it, and its state says why it does not count. A program that opens it later cannot attach it.
#
#   musl.sh LIBRARY
#
# Needs musl-gcc (Debian: musl-tools); skipped (77) without.
set -eu
library=$(realpath "$1")
test=$(cd "$(dirname "$0")" && pwd)
command -v musl-gcc >/dev/null || { echo "needs musl-gcc"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0

musl-gcc -O1 -fno-builtin -D_GNU_SOURCE -I"$test/../include" "$test/other_libc.c" -o program
musl-gcc -O1 -fno-builtin -D_GNU_SOURCE -I"$test/../include" "$test/state_is.c" -o state_is
loader=$(readelf -lW program | sed -n 's/.*program interpreter: \(.*\)]/\1/p')

nm -D --defined-only "$loader" | awk '{ print $3 }' | sort -u >defined
nm -D --undefined-only "$library" | awk '$1 == "U" { sub(/@.*/, "", $2); print $2 }' | sort -u >needed
missing=$(comm -13 defined needed | xargs)
[ -z "$missing" ] || { echo "musl has no" "$missing"; failed=1; }
# The names that musl takes for itself.
others=$(readelf -dW "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)]/\1/p' | grep -vE '^lib(c|dl|m|rt|pthread|util)\.' || true)
[ -z "$others" ] || { echo "musl does not find" "$others"; failed=1; }

code=0
./program >plain || code=$?
for setting in NOTHING= MALLOMETER_ACCOUNTING=header MALLOMETER_SAMPLE_INTERVAL=1 MALLOMETER_ENABLED=false \
  MALLOMETER_ONLY=program MALLOMETER_ONLY=other MALLOMETER_BLACKBOX=box; do
  preloaded=0
  env "$setting" LD_PRELOAD="$library" ./program >output 2>&1 || preloaded=$?
  if [ "$preloaded" -ne "$code" ] || ! cmp -s plain output; then
    echo "with $setting: ended with $preloaded instead of $code, printed"
    cat output
    failed=1
  fi
done
LD_PRELOAD=$library ./state_is unsupported "not glibc" || failed=1
musl-gcc -O1 -fno-builtin -D_GNU_SOURCE -I"$test/../include" "$test/attach_elsewhere.c" -o attach_elsewhere
./attach_elsewhere "$library" || failed=1
LD_PRELOAD=$library ./attach_elsewhere "$library" || failed=1
echo "ended with $code, $(wc -l <needed) symbols needed"
exit $failed
