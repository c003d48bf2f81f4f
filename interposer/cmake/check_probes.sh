#!/bin/sh
# Checks that tracers find the probes of the built library, and find them in a stripped one, too: a note of each, where
# the instruction that does nothing stands, with its arguments in the registers of a function's first ones.
#
#     check_probes.sh LIBRARY STRIP
set -eu
library=$1
strip=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

case $(readelf -hW "$library" | sed -n 's/ *Machine: *//p') in
  *X86-64*) arguments='8@%rdi 8@%rsi 8@%rdx' nop=90 ;;
  AArch64*) arguments='8@x0 8@x1 8@x2' nop=1f2003d5 ;;
  *)
    echo "no probes on this processor"
    exit 77
    ;;
esac

printf '%s\n' "alloc: $arguments" "free: ${arguments%% *}" "mmap: ${arguments% *}" "munmap: ${arguments% *}" >"$work/expected"
"$strip" -o "$work/stripped" "$library"
failed=0
for file in "$library" "$work/stripped"; do
  readelf -n "$file" | awk '
    $1 == "Provider:" { provider = $2 }
    $1 == "Name:" { name = $2 }
    $1 == "Location:" { sub(/,$/, "", $2); print $2 >places }
    $1 == "Arguments:" && provider == "otel_memory" { sub(/^ *Arguments: /, ""); sub(/ *$/, ""); print name ": " $0 }
  ' places="$work/places" | sort >"$work/found"
  if ! cmp -s "$work/expected" "$work/found"; then
    echo "notes of $file:"
    diff "$work/expected" "$work/found" || true
    failed=1
  fi
  while read -r place; do
    section=$(readelf -SW "$file" | sed -n 's/^.* \.text  *PROGBITS *\([0-9a-f]*\) \([0-9a-f]*\) .*/\1 \2/p')
    address=$((0x${section% *})) offset=$((0x${section#* }))
    found=$(od -An -v -tx1 -j $((place - address + offset)) -N $((${#nop} / 2)) "$file" | tr -d ' \n')
    if [ "$found" != "$nop" ]; then
      echo "$file: $found at $place, expected $nop"
      failed=1
    fi
  done <"$work/places"
done
[ $failed -ne 0 ] || cat "$work/found"
exit $failed
