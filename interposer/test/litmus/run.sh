#!/bin/sh
# Checks that the memory model of aarch64 forbids what must not happen to the library: the second line of each file says
# how often its last line may hold. Needs herd7 (Debian: herdtools7); skipped (77) without.
set -eu
cd "$(dirname "$0")"
command -v herd7 >/dev/null || exit 77
failed=0
for test in *.litmus; do
  expected=$(sed -n '2s/^"\([A-Z][a-z]*\):.*/\1/p' "$test")
  observed=$(herd7 "$test" | awk '$1 == "Observation" { print $3 }')
  echo "${test%.litmus}: $observed"
  [ "$observed" = "$expected" ] || { echo "expected: $expected"; failed=1; }
done
exit $failed
