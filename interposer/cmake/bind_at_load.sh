#!/bin/sh
# Sets MH_BINDATLOAD, the bit 8 of the flags in a Mach-O header for 64 bits (mach-o/loader.h), whose lowest byte is at 24:
# dyld binds every function of the library when it loads it. lld 14 does not know -bind_at_load. Whoever calls this has
# the file signed again.
set -eu
flags=$(od -An -tu1 -j24 -N1 "$1" | tr -d ' ')
# shellcheck disable=SC2059 # the byte is made by printf
printf "\\$(printf %03o $((flags | 8)))" | dd of="$1" bs=1 seek=24 conv=notrunc 2>/dev/null
