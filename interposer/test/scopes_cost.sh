#!/bin/sh
# Checks the cost of scopes, in instructions.
#
#   scopes_cost.sh VALGRIND PROGRAM LIBRARY
set -eu
. "$(dirname "$0")/instructions.sh"
# Addresses of objects decide which calls are sampled. One sample costs more than the counts of many calls, so almost none is taken.
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
without=$(each grow-none)
check "malloc of memory that grows in a scope" grow "$without" 40
without=$(each realloc-none)
check "realloc, two events, in a scope" realloc "$without" 50
without=$(each large-none)
check "malloc and free of 60,000 bytes in a scope" large "$without" 70
check "malloc and free in a matched scope" matched "$none" 220
open=$(each open)
echo "opening and closing a scope: $open instructions"
[ "$open" -le 1600 ] || failed=1
exit $failed
