#!/bin/sh
# in_other_debian.sh LIBRARY [TEST]: compiles the C tests with this system's gcc and C library, and runs them with the
# built library in both modes. For a Debian beside this one (bin/lib/in_root.sh). With TEST only that one: "quick" runs
# the tests that most depend on the C library: counts, stacks and attach.
set -u
library=$1
only=${2:-all}
test=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
count=0

# compile NAME [OPTION...]: compiles a program or, with -shared, a library.
compile() {
  source=$1
  shift
  # glibc before 2.34 has the functions of threads and of the loader in libraries of their own.
  gcc -O1 -w -fno-builtin -fno-optimize-sibling-calls -D_GNU_SOURCE -I"$test/../include" -I"$test/../src" -rdynamic \
    "$test/$source.c" "$@" -lpthread -ldl -lm || failed=1
}

# check [SETTING=VALUE...] COMMAND...: runs with the library, in both modes, or in the one that MODES names.
check() {
  for mode in ${MODES:-usable header}; do
    count=$((count + 1))
    code=0
    timeout 120 env "LD_PRELOAD=$library${BEHIND:+:$BEHIND}" MALLOMETER_STACKS=java "MALLOMETER_ACCOUNTING=$mode" "$@" \
      >output 2>&1 || code=$?
    [ "$code" -ne 0 ] || continue
    echo "FAILED with $code, $mode: $*"
    tail -n 20 output
    failed=1
  done
}

compile library -shared -fPIC -Wl,--build-id=0x0123456789abcdef -o library.so
compile exact_counts -o exact_counts
compile state_is -o state_is
compile stack_of -O2 -fomit-frame-pointer -o stack_of
compile sites_interface -o sites_interface
check ./state_is counting
for threads in 1 2 64; do check ./exact_counts $threads; done
check ./stack_of dwarf ./library.so
check MALLOMETER_STACKS=off ./stack_of off ./library.so
for case in modules come_and_go forks; do
  check MALLOMETER_SAMPLE_INTERVAL=1 ./sites_interface $case ./library.so
done
if [ "$only" = all ]; then
  compile keys_first -shared -fPIC -o keys_first.so
  compile little_stack -Wl,-z,now -o little_stack
  for program in definitions threads control forks impossible_sizes errno_is_kept errno_of_failures errno_at_main \
    alignments every_instruction processes stacks foreign_objects forgotten_key every_function closed_descriptors \
    own_malloc late_key crowd many_threads page_aligned low_page deepbind address_limit; do
    compile $program -o $program
  done
  # Runs without libpthread, too, which such a process does not need before glibc 2.34.
  for program in definitions control impossible_sizes errno_is_kept; do
    gcc -O1 -w -fno-builtin -D_GNU_SOURCE -I"$test/../include" -rdynamic "$test/$program.c" -o alone -ldl 2>/dev/null &&
      check ./alone counting
  done
  for program in definitions threads control forks impossible_sizes errno_is_kept errno_of_failures errno_at_main \
    alignments every_instruction processes stacks foreign_objects forgotten_key every_function closed_descriptors \
    own_malloc address_limit; do
    check ./$program
  done
  for case in taken coroutines handlers threads recursion first; do
    check MALLOMETER_SAMPLE_INTERVAL=1 MALLOMETER_HUGE=100k ./little_stack $case
  done
  BEHIND=$work/keys_first.so check ./late_key
  check ./crowd unmapped
  check ./many_threads 5000
  check ./page_aligned
  check ./deepbind ./library.so
  MODES=usable check ./low_page
  MODES=usable check ./low_page forbidden
fi
echo "$count runs over $(ldd --version | head -n 1)"
exit $failed
