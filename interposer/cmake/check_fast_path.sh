#!/bin/sh
# Checks that the compiler made of the counted route what docs/cost.md accounts for: malloc, free and the operators are
# one jump; then at most so many instructions from the entry to the first return (malloc) or to the jump into the
# allocator (free), one call and that to the allocator, no lock prefix, no call into the loader (__tls_get_addr).
set -eu
library=$1
failed=0

# By address: free has many names, of which the disassembler prints one.
listing() {
  address=$(nm --defined-only "$library" | awk -v name="$1" '$3 == name { print $1 }')
  objdump -d --no-show-raw-insn --start-address="0x$address" --stop-address="$((0x$address + 512))" "$library" |
    awk -F '\t' 'NF >= 2 { print $2 }'
}

# check FUNCTION LAST-INSTRUCTION LIMIT CALLS
check() {
  path=$(listing "$1" | awk -v last="$2" '{ print } $0 ~ last { exit }')
  length=$(printf '%s\n' "$path" | wc -l)
  calls=$(printf '%s\n' "$path" | grep -c '^call' || true)
  echo "$1: $length instructions"
  if ! printf '%s\n' "$path" | tail -n 1 | grep -qE "$2" || [ "$length" -gt "$3" ] || [ "$calls" -ne "$4" ] || printf '%s\n' "$path" | grep -qE '^lock|tls_get_addr'; then
    printf '%s\n' "$path"
    failed=1
  fi
}

check malloc '^jmp +\*' 1 0
check free '^jmp +\*' 1 0
for operator in _Znwm _ZnwmRKSt9nothrow_t _Znam _ZdlPv _ZdlPvm _ZdaPv; do
  check $operator '^jmp +\*' 1 0
done
check counted_malloc '^ret' 26 1
check counted_free '^jmp +\*' 12 0
check tracked_free '^jmp +\*' 16 0
check tracked_realloc '^ret' 43 1
check large_malloc '^ret' 80 1
# The program's return address must reach the loader: no call, and a jump at the end.
for function in dlopen dlmopen javas_dlsym; do
  listing $function | awk '/^jmp +\*|^jmp .*<dlsym@plt>/ { found = 1; exit } /^ret/ { exit } END { exit !found }' || { echo "$function is not a jump"; failed=1; }
done
# Whoever follows a stack finds the program's frame pointer in its register; the C runtime's own functions are called by
# the loader only.
if objdump -d --no-show-raw-insn "$library" |
  awk '/^[0-9a-f]+ </ { name = $2 } name !~ /__do_global_dtors_aux/ && /(,|pop +)%rbp$/ { print name, $0; found = 1 } END { exit !found }'; then
  echo "the frame pointer is written"
  failed=1
fi
exit $failed
