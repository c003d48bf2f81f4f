#!/bin/sh
# Checks the cost of scopes, in instructions.
#
#   scopes_cost.sh VALGRIND PROGRAM LIBRARY
set -eu
. "$(dirname "$0")/instructions.sh"
# The addresses also decide which calls are sampled, so next to none is: one sample costs more than the counts of many calls.
export MALLOMETER_SAMPLE_INTERVAL=1000000000000
failed=0

# check WHAT KIND WITHOUT LIMIT: checks by how many instructions a round takes more than WITHOUT.
check() {
  with=$(each "$2")
  echo "$1: $3 to $with instructions"
  [ $((with - $3)) -le "$4" ] || { echo "more than $4 more"; failed=1; }
}

none=$(each none)
check "malloc and free in a scope" thread "$none" 50
check "malloc of memory that grows in a scope" grow "$(each grow-none)" 40
check "realloc, two events, in a scope" realloc "$(each realloc-none)" 50
check "malloc and free of 60,000 bytes in a scope" large "$(each large-none)" 70
check "malloc and free in a matched scope" matched "$none" 220
open=$(each open)
echo "opening and closing a scope: $open instructions"
[ "$open" -le 1600 ] || failed=1
exit $failed
