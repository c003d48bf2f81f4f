#!/bin/sh
# Checks that what belongs to the processor, the kernel, the C library or the object format stands where a port looks
# for it: in src/platform and src/allocator, and nowhere else in src. There is no list of exceptions: whatever is needed
# elsewhere becomes a function of the platform. Prints file:line of each use.
set -eu
cd "$1/.."
failed=0

uses=$(find src -type f ! -path 'src/platform/*' ! -path 'src/allocator/*' -exec grep -nF \
  -e __x86_64__ -e __aarch64__ -e __GLIBC__ -e __APPLE__ -e '"/proc/' -e 'syscall(' -e '<sys/' -e '<elf.h>' -e '<link.h>' {} + |
  sort -t : -k 1,1 -k 2,2n)
if [ -n "$uses" ]; then
  printf '%s\n' "$uses"
  echo "$(printf '%s\n' "$uses" | wc -l) uses of the platform outside of src/platform and src/allocator"
  failed=1
fi

# Which processor it is, is asked in one place.
others=$(grep -rnE '__x86_64__|__aarch64__' src/platform src/allocator | grep -v '^src/platform/arch\.h:' || true)
if [ -n "$others" ]; then
  printf '%s\n' "$others"
  echo "the processor is asked for elsewhere than in src/platform/arch.h"
  failed=1
fi
exit $failed
