#!/bin/sh
# Checks what programs report at exit if MALLOMETER_MONITOR asks for it, and that they report nothing otherwise.
#
#   exit_report.sh PROGRAM LIBRARY : exit_report allocates 200 MiB and 1,000 times 100 bytes, and forks
set -eu
program=$1
export LD_PRELOAD=$2
failed=0

# has WHAT PATTERN COUNT
has() {
  found=$(printf '%s\n' "$said" | grep -cE "$2" || true)
  [ "$found" -eq "$3" ] || { echo "$1: $found lines like '$2', expected $3"; printf '%s\n' "$said"; failed=1; }
}

said=$("$program" 2>&1)
has silence . 0
said=$(MALLOMETER_MONITOR=maximum "$program" 2>&1)
has "of the child, and of the parent" '^mallometer: exit_report \([0-9]+\) at exit: peak 20[0-9]{7} bytes, live [0-9]+; 10[0-9]{2} allocations of 20[0-9]{7} bytes requested, 10[0-9]{2} frees, 0 failed; largest request 209715200$' 2
has "and no more" . 2
said=$(MALLOMETER_MONITOR=histogram "$program" 2>&1)
has histogram '^mallometer:   up to 128 bytes: 10[0-9]{2}$' 2
has "its heading" '^mallometer: exit_report \([0-9]+\) at exit: allocations by requested size$' 2
has "its end" '^mallometer:   above 4194304 bytes: 1$' 2
said=$(MALLOMETER_MONITOR=usable-sizes,histogram "$program" 2>&1)
has "returned sizes" 'at exit: allocations by returned size$' 2
has "beside the requested ones" '^mallometer:   up to 128 bytes: 10[0-9]{2}$' 4
has "their end" '^mallometer:   above 4194304 bytes: 1$' 4
said=$(MALLOMETER_MONITOR=threshold MALLOMETER_HUGE=200m MALLOMETER_STACKS=large "$program" 2>&1)
has "not above" 'exit: 0 requests above 209715200 bytes' 2
said=$(MALLOMETER_MONITOR=threshold,histogram MALLOMETER_HUGE=199m MALLOMETER_STACKS=large "$program" 2>&1)
has threshold 'exit: 1 requests above 208666624 bytes' 2
has request 'request 1: 209715200 bytes, thread [0-9]+ exit_report$' 2
has "histogram, too" 'up to 128 bytes' 2
frame=$(printf '%s\n' "$said" | sed -n 's/^mallometer:     the executable+//p' | head -n 1)
if command -v addr2line >/dev/null; then
  said=$(addr2line -f -e "$program" "$frame")
  has "who asked" '^asks_for_much$' 1
fi
directory=$(mktemp -d)
said=$(MALLOMETER_MONITOR=maximum MALLOMETER_ONLY=exit_report MALLOMETER_RECORDING=$directory/recording "$program" 2>&1)
has "beside a recording" 'at exit: peak' 2
[ -s "$directory/recording" ] || { echo "there is no recording"; failed=1; }
MALLOMETER_MONITOR=maximum "$program" "$directory/own" 2>&- || { echo "not in the place of standard error"; failed=1; }
[ ! -s "$directory/own" ] || { echo "a file of the program has the report in it"; failed=1; }
rm -r "$directory"
said=$(MALLOMETER_MONITOR=phase,maximum "$program" 2>&1)
has nonsense 'MALLOMETER_MONITOR=phase,maximum is not a list of' 1
has "the rest holds" 'at exit: peak' 2
said=$(MALLOMETER_MONITOR=maximum MALLOMETER_ENABLED=false "$program" 2>&1)
has off . 0
said=$(MALLOMETER_MONITOR=maximum MALLOMETER_LOG=off "$program" 2>&1)
has "without a log" . 0
MALLOMETER_MONITOR=maximum "$program" 2>&- || { echo "not without standard error"; failed=1; }
exit $failed
