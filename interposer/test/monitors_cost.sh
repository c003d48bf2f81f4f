#!/bin/sh
# Checks the cost of monitors, in instructions of a pair of malloc(64) and free: the difference of two run lengths, so
# that the start cancels out. Without a monitor and after unregistering one the cost is the same.
#
#   monitors_cost.sh VALGRIND PROGRAM LIBRARY
set -eu
valgrind=$1
program=$2
library=$3

# The padding makes all command lines equally long. They lie below the stack, whose address decides which places of the
# library's tables are used.
instructions() {
  PADDING=$(printf '%*s' $((20 - ${#1})) '') LD_PRELOAD=$library MALLOMETER_STACKS= "$valgrind" --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" "$2" 2>&1 |
    sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

# Prints the instructions of 50,000 pairs.
of_pairs() {
  short=$(instructions "$1" 10000)
  long=$(instructions "$1" 60000)
  echo $((long - short))
}

# Prints the instructions of one pair.
each() { echo $((($1 + 25000) / 50000)); }

pairs_without=$(of_pairs none)
pairs_after=$(of_pairs after)
none=$(each "$pairs_without")
after=$(each "$pairs_after")
one=$(each "$(of_pairs one)")
two=$(each "$(of_pairs two)")
difference=$((pairs_after - pairs_without))
echo "malloc and free: $none instructions without a monitor, $after after one, $one with one, $two with two"
# Less than half an instruction a pair: rounded averages may differ by one where they lie between two numbers.
[ "${difference#-}" -lt 25000 ] && [ $((one - none)) -le 450 ] && [ $((two - one)) -le 80 ]
