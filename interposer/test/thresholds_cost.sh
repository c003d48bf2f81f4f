#!/bin/sh
# Checks the cost of thresholds, in instructions of a pair of malloc and free: the difference of two run lengths, so
# that the start cancels out. No threshold, a closed one, and one above the size cost the same.
#
#   thresholds_cost.sh VALGRIND PROGRAM LIBRARY
set -eu
valgrind=$1
program=$2
library=$3

# The padding makes all command lines equally long. They lie below the stack, whose address decides which places of the
# library's tables are used.
instructions() {
  PADDING=$(printf '%*s' $((20 - ${#1})) '') LD_PRELOAD=$library MALLOMETER_STACKS= "$valgrind" --tool=callgrind --callgrind-out-file=/dev/null "$program" "$@" 2>&1 |
    sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

each() {
  short=$(instructions "$1" 10000 "$2")
  long=$(instructions "$1" 30000 "$2")
  echo $(((long - short + 10000) / 20000))
}

for size in 64 40000; do
  none=$(each none "$size")
  after=$(each after "$size")
  beside=$(each below "$size")
  above=$(each above "$size")
  other=$(each other "$size")
  echo "malloc($size) and free: $none instructions without a threshold, $after after one, $beside with one of 40000," \
    "$above with one that is exceeded and full, $other with one that another thread's would exceed"
  [ "$none" -eq "$after" ] && [ "$none" -eq "$beside" ] && [ $((above - none)) -le 400 ] && [ $((other - none)) -le 460 ]
done
