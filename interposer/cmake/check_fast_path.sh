#!/bin/sh
# check_fast_path.sh LIBRARY PROCESSOR: checks that the compiler made of the counted route what ARCHITECTURE.md accounts for:
# malloc, free and the operators are one jump; then at most so many instructions from the entry to the first return
# (malloc) or to the jump into the allocator (free), one call and that to the allocator, no lock prefix or exclusive
# access, no call into the loader (__tls_get_addr). $OBJDUMP and $NM are of the library's processor.
set -eu
library=$1
processor=$2
objdump=${OBJDUMP:-objdump}
nm=${NM:-nm}
failed=0

# By address: free has many names, of which the disassembler prints one.
listing() {
  address=$($nm --defined-only "$library" | awk -v name="$1" '$3 == name { print $1 }')
  $objdump -d --no-show-raw-insn --start-address="0x$address" --stop-address="$((0x$address + 512))" "$library" |
    awk -F '\t' 'NF >= 2 { print $2 " " $3 }'
}

# check FUNCTION LAST-INSTRUCTION LIMIT CALLS
check() {
  path=$(listing "$1" | awk -v last="$2" '{ print } $0 ~ last { exit }')
  length=$(printf '%s\n' "$path" | wc -l)
  calls=$(printf '%s\n' "$path" | grep -cE '^(call|blr?) ' || true)
  echo "$1: $length instructions"
  if ! printf '%s\n' "$path" | tail -n 1 | grep -qE "$2" || [ "$length" -gt "$3" ] || [ "$calls" -ne "$4" ] ||
    printf '%s\n' "$path" | grep -qE '^(lock|ldxr|ldaxr|cas|swp|ldadd)|tls_get_addr'; then
    printf '%s\n' "$path"
    failed=1
  fi
}

# Whoever follows a stack finds the program's frame pointer in its register; the C runtime's own functions are called by
# the loader only, and safety_test_entry begins a process.
case $processor in
  x86_64) jump='^jmp +\*' ret='^ret' entry=1 malloc=26 free=12 tracked=16 realloc=43 large=80 frame_pointer='(,|pop +)%rbp$' ;;
  aarch64)
    jump='^br +x1[67]' ret='^ret' entry=2 malloc=38 free=22 tracked=28 realloc=67 large=95
    frame_pointer='\t(ldr|mov|add)\tx29,|\tldp\tx29,|\tldp\tx[0-9]+, x29,'
    ;;
esac
check malloc "$jump" "$entry" 0
check free "$jump" "$entry" 0
for operator in _Znwm _ZnwmRKSt9nothrow_t _Znam _ZdlPv _ZdlPvm _ZdaPv; do
  check $operator "$jump" "$entry" 0
done
check counted_malloc "$ret" "$malloc" 1
# frameless_path() takes the program's stack pointer and return address for those of the function: nothing but the call
# of the allocator may change them.
if [ "$processor" = aarch64 ] &&
  [ "$(listing counted_malloc | awk '{ print } /^ret/ { exit }' | grep -cE '(x30|sp)(,|$|\])' )" -ne 4 ]; then
  echo "counted_malloc has a stack frame"
  failed=1
fi
check counted_free "$jump" "$free" 0
check tracked_free "$jump" "$tracked" 0
check tracked_realloc "$ret" "$realloc" 1
check large_malloc "$ret" "$large" 1
# The program's return address must reach the loader: no call, and a jump at the end.
for function in dlopen dlmopen java_dlsym; do
  listing $function | awk '/^jmp +\*|^jmp .*<dlsym@plt>|^br +x1[67]|^b +.*<dlsym@plt>/ { found = 1; exit } /^ret/ { exit } END { exit !found }' ||
    { echo "$function is not a jump"; failed=1; }
done
if $objdump -d --no-show-raw-insn "$library" |
  awk -v write="$frame_pointer" '/^[0-9a-f]+ </ { name = $2 } name !~ /__do_global_dtors_aux|<_init>|<_fini>|call_weak_fn|<safety_test_entry>/ && $0 ~ write { print name, $0; found = 1 } END { exit !found }'; then
  echo "the frame pointer is written"
  failed=1
fi
exit $failed
