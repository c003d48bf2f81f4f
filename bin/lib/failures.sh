# shellcheck shell=bash
# What a log says of failures. failing_lines prints each line that names one, once; excerpts prints what follows the first of them.

# With these lines Maven, CTest, unittest, node's reporters of TAP and of specifications, testing/anywhere, the checks of
# testing/debians and testing/emulated, promtool, shellcheck, npm, compilers, make and CMake begin to tell of a failure.
begins='^\[ERROR\] .* <<< (FAILURE|ERROR)!$|^ *[0-9]+/[0-9]+ Test +#[0-9]+: .*\*\*\*(Failed|Timeout|Exception|Not Run)'
begins+='|^(FAIL|ERROR): |^ *not ok [0-9]+|^ *✖ |^ *[0-9.]+ s  FAILED  |^ *FAILED:|^In .* line [0-9]+:$|^npm (ERR!|error) '
begins+='|^/[^ ]+:[0-9]+:([0-9]+:)? (fatal )?error: |^g?make(\[[0-9]+\])?: \*\*\* |^CMake Error'

# Maven names failures in other lines of errors too, but for these.
noise='^\[ERROR\] *($|Failures: *$|Errors: *$|Tests run: |There are |See |-> \[Help |\[Help |To see the full |Re-run Maven |For more '
noise+='information |After correcting |mvn <args>)|^ *not ok .*# (SKIP|TODO)'

# failing_lines LOG
failing_lines() { told "$1" "$begins|^\[ERROR\]" 40 1; }

# excerpts LOG: ten, of sixteen lines each; where none of these lines is there, the end of the log.
excerpts() { told "$1" "$begins" 10 16 | grep . || tail -n 15 "$1"; }

# told LOG PATTERN MOST LINES: from each of the first lines of the pattern that are no noise and differ, so many lines. Lines are cut,
# as a class path may stand in one.
told() {
  PATTERN=$2 NOISE=$noise awk -v most="$3" -v lines="$4" '
    $0 ~ ENVIRON["PATTERN"] && $0 !~ ENVIRON["NOISE"] && !seen[$0]++ && ++count <= most { left = lines }
    left-- > 0 { print substr($0, 1, 300) }
    END { if (count > most) print "... and " count - most " more" }' "$1"
}
