#!/bin/sh
# Runs a command and shows what it printed only if it fails.
log=$(mktemp) || exit
"$@" >"$log" 2>&1
code=$?
[ "$code" -eq 0 ] || cat "$log"
rm -f "$log"
exit "$code"
