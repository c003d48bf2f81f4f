#!/bin/sh
# Tests the library as a user gets it: installed to some prefix, found by pkg-config, used by the example, which is
# compiled without linking it and works with and without it; and by a program that links it.
#
#   installed_example.sh BUILD-DIRECTORY VERSION
set -eu
build=$1
examples=$(cd "$(dirname "$0")/../examples" && pwd)
command -v pkg-config >/dev/null || { echo "needs pkg-config"; exit 77; }
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cmake --install "$build" --prefix "$directory/prefix" >/dev/null
PKG_CONFIG_PATH=$(dirname "$(find "$directory/prefix" -name mallometer.pc)")
export PKG_CONFIG_PATH
pkg-config --validate mallometer
[ "$(pkg-config --modversion mallometer)" = "$2" ]

expect() { # OUTPUT PATTERN
  printf '%s\n' "$1" | grep -q "$2" || { echo "expected $2 in: $1"; exit 1; }
}

${CC:-cc} -std=c99 -Wall -Wextra -Werror $(pkg-config --cflags mallometer) "$examples/bracket.c" -o "$directory/bracket"
output=$("$directory/bracket")
expect "$output" "not loaded; working without"
expect "$output" "789 characters forgotten"
preload=$(pkg-config --variable=preload mallometer)
[ -e "$preload" ]
[ -e "$directory/prefix/share/mallometer/mallometer.supp" ]
output=$(LD_PRELOAD=$preload "$directory/bracket")
expect "$output" "789 characters forgotten"
expect "$output" "^thread: 1000 allocations of 32000 bytes, 900 frees, +4000 bytes live"
output=$(LD_PRELOAD=$preload MALLOMETER_ACCOUNTING=header "$directory/bracket")
expect "$output" "^process: 1000 allocations of 32000 bytes, 900 frees, +3200 bytes live"

${CC:-cc} $(pkg-config --cflags mallometer) "$examples/bracket.c" -o "$directory/linked" -Wl,--no-as-needed $(pkg-config --libs mallometer)
output=$(LD_LIBRARY_PATH=$(dirname "$preload") "$directory/linked")
expect "$output" "^thread: 1000 allocations of 32000 bytes, 900 frees"
