#!/bin/sh
# Runs a command and shows its output only if it fails. Until it ends, shows the latest line each half minute.
log=$(mktemp) || exit
(
  seconds=30
  trap 'kill "$!"; exit' TERM
  # sleep must not keep the output open.
  while sleep 30 >/dev/null 2>&1 & wait "$!" && kill -0 $$ 2>/dev/null; do
    echo "[INFO] $(tail -n 1 "$log"), $seconds s"
    seconds=$((seconds + 30))
  done
) &
shows=$!
"$@" >"$log" 2>&1
code=$?
kill "$shows"
[ "$code" -eq 0 ] || cat "$log"
rm -f "$log"
exit "$code"
