#!/bin/sh
# Runs the built library in programs of musl: it needs nothing that musl lacks, and the C tests that musl can run pass
# in both modes. Left out is what only glibc has (its internal names, its chunks, realloc to 0, an allocator's figures),
# what musl lacks (contexts, RTLD_DEEPBIND, unloading, traps of floating point), and what needs the leak evidence, which
# is off there.
#
#   musl.sh LIBRARY [ROOT PROCESSOR [PART...]]
#
# Parts: programs counting crowds behind gcompat stacks search recording attach; all without.
#
# Needs musl-gcc (Debian: musl-tools); skipped (77) without. With ROOT, the directory of a system for another processor
# with musl-dev, its programs are compiled by Debian's cross compiler, and this system must be able to run them. Left
# out there: a limit of address space, which the emulator needs itself; programs that start programs of this system; the
# search, which tries its system calls in a process that the emulator cannot start; comparisons of births with the
# clock; and objects below the library, of which there are none.
set -eu
library=$(realpath "$1")
test=$(cd "$(dirname "$0")" && pwd)
root=${2:-}
processor=${3:-$(uname -m)}
parts="programs counting crowds behind gcompat stacks search recording attach"
if [ $# -gt 3 ]; then
  shift 3
  parts=$*
fi
patience=100
[ -z "$root" ] || patience=400 # of an emulator
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
if [ -n "$root" ]; then
  # The link to libc.so there points to this system's.
  sed "s, /usr/, $root/usr/,g; s,-L/usr/,-L$root/lib/$processor-linux-musl -L$root/usr/," \
    "$root/usr/lib/$processor-linux-musl/musl-gcc.specs" >specs
  kernel_headers=/usr/$processor-linux-gnu/include
else
  command -v musl-gcc >/dev/null || { echo "needs musl-gcc"; exit 77; }
  kernel_headers=/usr/include/$processor-linux-gnu
fi
# The library defines what programs refer to weakly; the linker for aarch64 leaves that to the loader in any case.
# libgcc's atomics for aarch64 would need a function that musl lacks.
case $processor in
  x86_64) of_processor=-Wl,-z,dynamic-undefined-weak ;;
  aarch64) of_processor=-mno-outline-atomics ;;
  *) of_processor= ;;
esac

musl_gcc() {
  if [ -n "$root" ]; then "$processor-linux-gnu-gcc" "$@" -specs "$work/specs"; else musl-gcc "$@"; fi
}

failed=0
count=0

# compile PROGRAM [OPTION...]: compiles as CMakeLists.txt does. musl-gcc lacks options that Alpine's gcc passes to the
# linker.
compile() {
  source=$1
  shift
  # shellcheck disable=SC2086 # words
  musl_gcc -O1 -w -fno-builtin -fno-optimize-sibling-calls -D_GNU_SOURCE -I"$test/../include" -I"$test/../src" \
    -include "$test/musl_lacks.h" -idirafter "$kernel_headers" -idirafter /usr/include \
    -Wl,--eh-frame-hdr $of_processor "$test/$source.c" "$@"
}

# check NAME [SETTING=VALUE...] COMMAND...: runs with the library, in both modes, or in the one that MODES names.
check() {
  for mode in ${MODES:-usable header}; do
    count=$((count + 1))
    code=0
    timeout "$patience" env "LD_PRELOAD=${BEFORE:+$BEFORE:}$library${BEHIND:+:$BEHIND}" MALLOMETER_STACKS=java "MALLOMETER_ACCOUNTING=$mode" "$@" >output 2>&1 || code=$?
    [ "$code" -ne 0 ] || continue
    echo "FAILED with $code, $mode: $*"
    cat output
    failed=1
  done
}

# part NAME: returns whether the part is wanted, and reports the result of the previous one.
begun=
part() {
  [ -z "$begun" ] || echo "$begun: $count runs, $([ $failed = 0 ] && echo passed || echo FAILED)"
  begun=
  case " $parts " in *" $1 "*) begun=$1 ;; *) return 1 ;; esac
}

# programs NAME... : compiles those that are not yet there.
programs() {
  for program; do [ -e "$program" ] || compile "$program" -rdynamic -lm -o "$program"; done
}

compile other_libc -o program
loader=$(readelf -lW program | sed -n 's/.*program interpreter: \(.*\)]/\1/p')
nm -D --defined-only "$root$loader" | awk '{ print $3 }' | sort -u >defined
nm -D --undefined-only "$library" | awk '$1 == "U" { sub(/@.*/, "", $2); print $2 }' | sort -u >needed
missing=$(comm -13 defined needed | xargs)
[ -z "$missing" ] || { echo "musl has no" "$missing"; failed=1; }
# The names that musl treats as its own.
others=$(readelf -dW "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)]/\1/p' | grep -vE '^lib(c|dl|m|rt|pthread|util)\.' || true)
[ -z "$others" ] || { echo "musl does not find" "$others"; failed=1; }

# Programs run as without the library, with all settings.
if part programs; then
  code=0
  ./program >plain || code=$?
  for setting in NOTHING= MALLOMETER_ACCOUNTING=header MALLOMETER_SAMPLE_INTERVAL=1 MALLOMETER_ENABLED=false \
    MALLOMETER_ONLY=program MALLOMETER_ONLY=other MALLOMETER_RECORDING=box; do
    count=$((count + 1))
    preloaded=0
    env "$setting" LD_PRELOAD="$library" ./program >output 2>&1 || preloaded=$?
    if [ "$preloaded" -ne "$code" ] || ! cmp -s plain output; then
      echo "with $setting: ended with $preloaded instead of $code, printed"
      cat output
      failed=1
    fi
  done
fi

if part counting; then
  programs state_is allocator exact_counts
  check ./state_is counting
  check ./allocator silent
  for threads in 1 2 64; do check ./exact_counts $threads; done
  for program in definitions threads control forks impossible_sizes errno_is_kept errno_of_failures errno_at_main \
    alignments processes every_function closed_descriptors address_limit unread_messages peak large own_malloc; do
    case $root:$program in ?*:processes | ?*:address_limit) continue ;; esac
    programs "$program"
    check "./$program"
  done
  programs page_aligned needs_memory
  [ -n "$root" ] || MODES=usable check ./page_aligned # its calloc below the library comes back to it
  check ./needs_memory 18
fi

if part crowds; then
  programs many_threads crowd
  check ./many_threads 2000
  check ./crowd unmapped
fi

# Runs behind a malloc that passes its calls on.
if part behind; then
  programs state_is every_function
  for kind in ALL SOME; do
    compile forwarder -shared -fPIC -D$kind -o forwarder.so
    BEFORE=$work/forwarder.so check ./state_is not-preloaded "malloc of forwarder.so comes first"
    BEFORE=$work/forwarder.so check ./every_function
  done
fi

# A library with glibc's names, like gcompat.
if part gcompat; then
  programs state_is allocator
  echo 'const char *gnu_get_libc_version(void) { return "2.31"; }' >answers.c
  musl_gcc -shared -fPIC answers.c -o answers.so
  BEHIND=$work/answers.so check ./state_is counting
  BEHIND=$work/answers.so check ./allocator silent
fi

# Stacks and call sites.
if part stacks; then
  programs sampled call_sites sites_interface
  compile stack_of -O2 -fomit-frame-pointer -o stack_of
  compile library -shared -fPIC '-DTLS_MODEL="global-dynamic"' -Wl,--build-id=0x0123456789abcdef -o library.so
  check ./stack_of dwarf ./library.so
  check MALLOMETER_STACKS=off ./stack_of off ./library.so
  for interval in 0 1 65536; do check MALLOMETER_SAMPLE_INTERVAL=$interval ./sampled $interval; done
  check MALLOMETER_SAMPLE_INTERVAL=8192 MALLOMETER_STACKS=native ./call_sites 8192
  for case in objects exact off crowded forks modules; do
    case $root:$case in ?*:objects) continue ;; esac
    check MALLOMETER_SAMPLE_INTERVAL=1 ./sites_interface $case ./library.so
  done
fi

# Lost memory; accesses are not observed on musl.
if part search; then
  programs search leaks
  for case in addresses freed unmapped forks; do
    [ -n "$root" ] || MODES=usable check MALLOMETER_SAMPLE_INTERVAL=1 ./search $case
  done
  MODES=usable check ./leaks off "the allocator is not glibc's"
fi

# The recording, which does not learn the exit status.
if part recording; then
  programs recording
  for case in killed stopped exited children second; do check ./recording $case; done
fi

# A running process: musl does not open the library, which has thread-local variables of its own.
if part attach; then
  compile attach_elsewhere -o attach_elsewhere
  ./attach_elsewhere "$library" || failed=1
  check ./attach_elsewhere "$library" counts
  compile own_malloc -shared -fPIC -o before.so
  LD_PRELOAD="$work/before.so $library" ./attach_elsewhere "$library" before || failed=1
fi
part end || true
echo "$count runs, $(wc -l <needed) symbols needed"
exit $failed
