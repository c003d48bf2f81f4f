#!/bin/sh
# Checks what the built library needs and offers: no symbol version above GLIBC_2.17 (a preload that misses one keeps
# every program in the container from starting), at most 64 bytes of static TLS (a late dlopen gets no more), the mark
# without which glibc switches a process's shadow stacks off, and no exports but the interposed functions and
# mallometer_* and the native methods of the bridge.
set -eu
library=$1
failed=0

newest=$(readelf -W --dyn-syms "$library" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)
if [ -z "$newest" ] || [ "$(printf '%s\nGLIBC_2.17\n' "$newest" | sort -V | tail -n 1)" != GLIBC_2.17 ]; then
  echo "needs $newest:"
  readelf -W --dyn-syms "$library" | grep "$newest"
  failed=1
fi

tls=$(readelf -lW "$library" | awk '$1 == "TLS" { print $6 }')
if [ "$((tls))" -gt 64 ]; then
  echo "$((tls)) bytes of TLS"
  failed=1
fi

if readelf -hW "$library" | grep -q X86-64 && ! readelf -nW "$library" | grep -qE 'x86 feature: SHSTK$'; then
  echo "is not marked for shadow stacks, or for more: $(readelf -nW "$library" | grep 'x86 feature')"
  failed=1
fi

allowed='^(malloc|free|calloc|realloc|reallocarray|memalign|aligned_alloc|posix_memalign|valloc|pvalloc'
allowed="$allowed|malloc_usable_size|cfree|free_sized|free_aligned_sized|sdallocx|dlm?open|mmap|mmap64|munmap|mremap|__gmon_start__"
allowed="$allowed|_Zn[wa][a-zA-Z0-9_]+|_Zd[la][a-zA-Z0-9_]+|mallometer_[a-z_]+"
allowed="$allowed|Java_io_mallometer_internal_library_abi_DirectCalls_[a-z]+)\$"
others=$(nm -D --defined-only "$library" | awk '{ print $3 }' | grep -vE "$allowed" || true)
if [ -n "$others" ]; then
  echo "exports more than it should: $others"
  failed=1
fi
echo "newest version needed: $newest, TLS: $((tls)) bytes"
exit $failed
