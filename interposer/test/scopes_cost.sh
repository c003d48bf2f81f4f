#!/bin/sh
# Checks the cost of scopes, in instructions: the difference of two run lengths, so that the start cancels out.
#
#   scopes_cost.sh VALGRIND PROGRAM LIBRARY
set -eu
valgrind=$1
program=$2
library=$3
failed=0

# The padding makes all command lines equally long. They lie below the stack, whose address decides which places of the
# library's tables are used. The addresses also decide which calls are sampled, so next to none is: one sample costs more
# than the counts of many calls.
instructions() {
  PADDING=$(printf '%*s' $((20 - ${#1})) '') LD_PRELOAD=$library MALLOMETER_SAMPLE_INTERVAL=1000000000000 \
    "$valgrind" --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" "$2" 2>&1 |
    sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

# Prints the instructions of one round of a kind.
each() {
  short=$(instructions "$1" 5000)
  long=$(instructions "$1" 25000)
  echo $(((long - short + 10000) / 20000))
}

# check WHAT KIND KIND-WITHOUT LIMIT: checks by how much a round takes more instructions.
check() {
  with=$(each "$2")
  without=$(each "$3")
  echo "$1: $without to $with instructions"
  [ $((with - without)) -le "$4" ] || { echo "more than $4 more"; failed=1; }
}

check "malloc and free in a scope" thread none 50
check "malloc of memory that grows in a scope" grow grow-none 40
check "realloc, two events, in a scope" realloc realloc-none 50
check "malloc and free of 60,000 bytes in a scope" large large-none 70
check "malloc and free in a matched scope" matched none 220
open=$(each open)
echo "opening and closing a scope: $open instructions"
[ "$open" -le 1600 ] || failed=1
exit $failed
