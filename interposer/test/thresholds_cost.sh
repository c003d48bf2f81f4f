#!/bin/sh
# Checks the cost of thresholds, in instructions of a pair of malloc and free. No threshold, a closed one, and one above
# the size cost the same.
#
#   thresholds_cost.sh VALGRIND PROGRAM LIBRARY
set -eu
. "$(dirname "$0")/instructions.sh"
export MALLOMETER_STACKS=
failed=0

for size in 64 40000; do
  none=$(each none "$size")
  after=$(each after "$size")
  beside=$(each below "$size")
  above=$(each above "$size")
  other=$(each other "$size")
  echo "malloc($size) and free: $none instructions without a threshold, $after after one, $beside with one of 40000," \
    "$above with one that is exceeded and full, $other with one that another thread's would exceed"
  [ "$none" -eq "$after" ] && [ "$none" -eq "$beside" ] && [ $((above - none)) -le 400 ] && [ $((other - none)) -le 460 ] || failed=1
done
exit $failed
