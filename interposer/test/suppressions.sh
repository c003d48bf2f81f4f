#!/bin/sh
# Checks a program with Valgrind's memcheck while mallometer is preloaded. Memcheck answers malloc itself, and
# mallometer does nothing, so there is nothing to suppress. If memcheck is told to leave malloc to mallometer, it finds
# no error with the suppressions that are shipped, whether the library has its symbols or not. The program's own errors
# are reported in both cases.
#
#   suppressions.sh LIBRARY SUPPRESSIONS FAULTY-PROGRAM
#
# Skipped (77) without valgrind.
set -eu
suppressions=$2
faulty=$3
command -v valgrind >/dev/null || { echo "needs valgrind"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/whole" "$work/stripped"
cp "$1" "$work/whole/libmallometer.so"
strip -o "$work/stripped/libmallometer.so" "$1"
failed=0

# memcheck LIBRARY SETTING [OPTION...] COMMAND...: sets `code`, 9 after an error.
memcheck() {
  library=$work/$1/libmallometer.so
  setting=$2
  shift 2
  code=0
  env "$setting" LD_PRELOAD="$library" valgrind --error-exitcode=9 "$@" >"$work/output" 2>&1 || code=$?
}

# faultless LIBRARY SETTING [OPTION...]
faultless() {
  memcheck "$@" /bin/ls -la /usr
  grep -q 'ERROR SUMMARY: 0 errors' "$work/output" && [ "$code" -eq 0 ] && return
  echo "$*: ended with $code"
  grep '^==' "$work/output" | head -n 40
  failed=1
}

# faulty SETTING [OPTION...]
faulty() {
  memcheck whole "$@" --leak-check=full "$faulty"
  [ "$code" -eq 9 ] || { echo "$*: ended with $code instead of 9"; failed=1; }
  for fault in '100 bytes in 1 blocks are definitely lost' 'Invalid write of size 1' 'Invalid free()'; do
    grep -qF "$fault" "$work/output" || { echo "$*: an error of the program is not told: $fault"; failed=1; }
  done
}

for setting in NOTHING= MALLOMETER_ACCOUNTING=header; do
  faultless whole $setting --leak-check=full
done
faulty NOTHING=

counting="--soname-synonyms=somalloc=nouserintercepts --suppressions=$suppressions"
for library in whole stripped; do
  # shellcheck disable=SC2086 # two options
  for setting in NOTHING= MALLOMETER_UNWIND=fp MALLOMETER_SAMPLE_INTERVAL=1; do
    faultless $library $setting $counting --leak-check=full
  done
  # shellcheck disable=SC2086
  faultless $library MALLOMETER_ACCOUNTING=header $counting
done
# The table of samples points to objects that the program has lost.
# shellcheck disable=SC2086
faulty MALLOMETER_SAMPLE_INTERVAL=0 $counting
exit $failed
