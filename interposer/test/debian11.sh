#!/bin/sh
# The built library on Debian 11 (glibc 2.31), whose pthread and dl functions still live in libraries of their own: it
# loads, counts, and passes the test programs, which are compiled there.
#
#   debian11.sh LIBRARY [ROOT]
#
# ROOT is a Debian 11 with gcc. Without one, or if it does not exist, debootstrap makes it (package debootstrap, 300 MB,
# some minutes). Needs root, for chroot; skipped (77) without.
set -eu
library=$(realpath "$1")
root=${2:-/var/tmp/mallometer-debian11}
interposer=$(cd "$(dirname "$0")/.." && pwd)

[ "$(id -u)" = 0 ] || { echo "needs root"; exit 77; }
if [ ! -x "$root/usr/bin/gcc" ]; then
  command -v debootstrap >/dev/null || { echo "needs debootstrap"; exit 77; }
  debootstrap --variant=minbase --include=gcc,libc6-dev bullseye "$root" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} >"$root.log" 2>&1 ||
    { tail -n 5 "$root.log"; exit 1; }
fi

work=$root/tmp/mallometer
rm -rf "$work"
mkdir -p "$work"
mounted=false
mount -t proc proc "$root/proc" 2>/dev/null && mounted=true
trap 'if $mounted; then umount "$root/proc"; fi; rm -rf "$work"' EXIT
cp "$library" "$work/libmallometer.so"
cp "$interposer"/include/*.h "$interposer"/test/*.[ch] "$work"

cat >"$work/run" <<'EOF'
set -u
cd /tmp/mallometer
failed=0
flags="-O1 -w -fno-builtin -D_GNU_SOURCE -I. -rdynamic"
gcc -shared -fPIC $flags library.c -o library.so
gcc -shared -fPIC $flags keys_first.c -o keys_first.so
try() { # NAME PRELOADED-TOO COMMAND ...
  name=$1 also=$2
  shift 2
  for mode in usable header; do
    if LD_PRELOAD=/tmp/mallometer/libmallometer.so$also MALLOMETER_ACCOUNTING=$mode MALLOMETER_STACKS=java timeout 120 "$@" >output 2>&1; then
      echo "$name $mode: passed"
    else
      echo "$name $mode: FAILED with $?"
      cat output
      failed=1
    fi
  done
}
# Without libpthread too, which such a process can do without before glibc 2.34.
for program in definitions control impossible_sizes errno_is_kept state_is; do
  gcc $flags $program.c -o alone_$program -ldl 2>/dev/null && try $program-without-libpthread "" ./alone_$program counting
done
for program in exact_counts definitions threads control forks impossible_sizes errno_is_kept alignments every_instruction processes stacks \
  foreign_objects forgotten_key late_key crowd many_threads every_function closed_descriptors address_limit state_is deepbind \
  errno_of_failures errno_at_main page_aligned own_malloc low_page; do
  gcc $flags $program.c -o $program -lpthread -ldl || failed=1
done
gcc $flags -Wl,-z,now little_stack.c -o little_stack -lpthread -ldl || failed=1
for case in taken coroutines handlers threads recursion first; do
  try "little_stack $case" "" env MALLOMETER_SAMPLE_INTERVAL=1 MALLOMETER_HUGE=100k ./little_stack $case
done
try state_is "" ./state_is counting
for threads in 1 2 64; do try exact_counts_in_$threads "" ./exact_counts $threads; done
for program in definitions threads control forks impossible_sizes errno_is_kept alignments every_instruction processes stacks \
  foreign_objects forgotten_key every_function closed_descriptors errno_of_failures errno_at_main own_malloc; do
  try $program "" ./$program
done
[ -e /proc/self/statm ] && try address_limit "" ./address_limit
try late_key :/tmp/mallometer/keys_first.so ./late_key
try crowd "" ./crowd unmapped
try many_threads "" ./many_threads 5000
try page_aligned "" ./page_aligned kill
LD_PRELOAD=/tmp/mallometer/libmallometer.so ./low_page && LD_PRELOAD=/tmp/mallometer/libmallometer.so ./low_page forbidden ||
  failed=1
try deepbind "" ./deepbind ./library.so
LD_PRELOAD=/tmp/mallometer/libmallometer.so MALLOMETER_LOG=info /bin/true
exit $failed
EOF
chroot "$root" /bin/sh /tmp/mallometer/run
