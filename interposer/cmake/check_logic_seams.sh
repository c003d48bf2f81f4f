#!/bin/sh
# Checks that the logic reaches the system by functions of the platform alone: whatever its objects use and do not
# define is declared in one of the headers, or is one of the C library's functions that compute and ask the kernel for
# nothing. Prints the others.
#
#     check_logic_seams.sh HEADER... -- OBJECT...
set -eu
# Thread keys are the system's own way to hear of a thread's end (src/account/thread_block.c), pthread_self is portable
# C's way to tell threads apart (src/platform/arch_portable.h). The last are the compiler's.
known='mem(cpy|move|set|cmp|chr)|bcmp|str(len|nlen|cmp|ncmp|cpy|ncpy|chr)|snprintf|__errno_location
  |pthread_(key_create|key_delete|setspecific|self)
  |__ubsan_handle_.*|__aarch64_.*|_GLOBAL_OFFSET_TABLE_|__tls_get_addr|__stack_chk_fail
  |__(mem|str)[a-z]*_chk|__snprintf_chk'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Functions and variables that are declared at the begin of a line, but for those that a header defines.
while [ "$1" != -- ]; do
  sed -n -E '/^(typedef|static)/d
    s/^[a-z][A-Za-z0-9_ ]*[ *]+([a-z][a-z0-9_]*)(\(|\[.*\];|;).*/\1/p' "$1" >>"$work/platform"
  shift
done
shift
[ -s "$work/platform" ] && [ $# -gt 0 ] || {
  echo "no declarations, or no objects"
  exit 1
}

nm -A "$@" | awk '
  {
    end = index($0, ".o:")
    name = substr($0, 1, end + 1)
    sub(/.*\//, "", name)
    $0 = substr($0, end + 3)
    sub(/@.*/, "", $NF)
  }
  NF == 2 { print "use", $2, name }
  NF == 3 && $2 ~ /[A-Z]/ { print "definition", $3 }' >"$work/symbols"
awk -v known="^($(printf %s "$known" | tr -d ' \n'))\$" '
  FILENAME == ARGV[1] { allowed[$1]; next }
  $1 == "definition" { allowed[$2] }
  $1 == "use" { uses[++count] = $2; users[count] = $3 }
  END {
    for (i = 1; i <= count; i++) {
      if (uses[i] in allowed || uses[i] ~ known) continue
      print users[i] " uses " uses[i]
      failed = 1
    }
    exit failed
  }' "$work/platform" "$work/symbols"
