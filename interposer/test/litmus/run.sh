#!/bin/sh
# Checks that the memory model of aarch64 forbids what the library relies on: each file says in its second line how often
# its last line may hold. Needs herd7 (Debian: herdtools7); 77 without it.
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
