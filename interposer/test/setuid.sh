#!/bin/sh
# A program that gains rights by its setuid bit is not preloaded, and works: the loader ignores a preload with a path.
# setuid.sh LIBRARY PROGRAM; the program fails if it finds the library (processes.c, called as for env -i). Needs root.
set -eu
[ "$(id -u)" = 0 ] || exit 77
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
chmod 755 "$directory"
cp "$1" "$directory/libmallometer.so"
cp "$2" "$directory/program"
cp "$2" "$directory/setuid"
chmod 755 "$directory/libmallometer.so" "$directory/program"
chown root "$directory/setuid"
chmod 4755 "$directory/setuid"
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups env LD_PRELOAD="$directory/libmallometer.so" "$@"; }
if as_nobody "$directory/program" bare; then
  echo "the plain program was not preloaded, expected it to be: this test shows nothing"
  exit 1
fi
as_nobody "$directory/setuid" bare
