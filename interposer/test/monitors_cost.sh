#!/bin/sh
# Checks what monitors cost, in instructions of a pair of malloc(64) and free: differences of two run lengths, so that
# the start cancels. None, and none any more, take the same.
#
#   monitors_cost.sh VALGRIND PROGRAM LIBRARY
set -eu
valgrind=$1
program=$2
library=$3

instructions() {
  LD_PRELOAD=$library MALLOMETER_STACKS= "$valgrind" --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" "$2" 2>&1 |
    sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

each() {
  short=$(instructions "$1" 10000)
  long=$(instructions "$1" 60000)
  echo $(((long - short + 25000) / 50000))
}

none=$(each none)
after=$(each after)
one=$(each one)
two=$(each two)
echo "malloc and free: $none instructions without a monitor, $after after one, $one with one, $two with two"
[ "$none" -eq "$after" ] && [ $((one - none)) -le 450 ] && [ $((two - one)) -le 80 ]
