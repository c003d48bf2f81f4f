#!/bin/sh
# attach_in_other_debian.sh LIBRARY: compiles the programs that attach, observe objects and search memory with this
# system's gcc and C library, and runs them. For a Debian beside this one (bin/lib/in_root.sh).
set -eu
library=$1
cd "$(dirname "$0")"
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
flags="-O1 -w -fno-builtin -D_GNU_SOURCE -I../include"
# shellcheck disable=SC2086 # words
gcc $flags attach.c -o "$built/attach" -lpthread -ldl
# shellcheck disable=SC2086
gcc $flags '-DTLS_MODEL="global-dynamic"' -shared -fPIC library.c -o "$built/libplugin.so"
for case in counts words live forks load 'cycles 1000'; do
  # shellcheck disable=SC2086
  set -- $case
  "$built/attach" "$library" "$1" "$built/libplugin.so" ${2:+"$2"} >"$built/output" 2>&1 || {
    cat "$built/output"
    echo "FAILED: $case over $(ldd --version | head -n 1)"
    exit 1
  }
done
for case in 'leaks seen' 'leaks larger' 'leaks twice' 'search idle'; do
  # shellcheck disable=SC2086
  set -- $case
  # shellcheck disable=SC2086
  gcc $flags -fno-optimize-sibling-calls "$1.c" -o "$built/$1" -lm -lpthread -ldl
  LD_PRELOAD=$library MALLOMETER_SAMPLE_INTERVAL=20000 MALLOMETER_OVERHEAD_TARGET=off "$built/$1" "$2" >"$built/output" 2>&1 || {
    cat "$built/output"
    echo "FAILED: $case over $(ldd --version | head -n 1)"
    exit 1
  }
done
echo "passed over $(ldd --version | head -n 1)"
