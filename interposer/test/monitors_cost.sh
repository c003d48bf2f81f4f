#!/bin/sh
# Checks the cost of monitors, in instructions of a pair of malloc(64) and free. Without a monitor and after
# unregistering one the cost is the same.
#
#   monitors_cost.sh VALGRIND PROGRAM LIBRARY
set -eu
. "$(dirname "$0")/instructions.sh"
export MALLOMETER_STACKS=

pairs_without=$(instructions 50000 none)
pairs_after=$(instructions 50000 after)
none=$(((pairs_without + 25000) / 50000))
after=$(((pairs_after + 25000) / 50000))
one=$(each one)
two=$(each two)
difference=$((pairs_after - pairs_without))
echo "malloc and free: $none instructions without a monitor, $after after one, $one with one, $two with two"
# Less than half an instruction a pair: rounded averages may differ by one where they lie between two numbers.
[ "${difference#-}" -lt 25000 ] && [ $((one - none)) -le 450 ] && [ $((two - one)) -le 80 ]
