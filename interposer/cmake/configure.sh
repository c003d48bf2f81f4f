#!/bin/sh
# Configures the build of SOURCE in BUILD. CMake refuses a build that was copied or moved with its checkout: such a one
# begins anew.
#
#   configure.sh SOURCE BUILD [OPTION...]
set -eu
source=$1
build=$2
shift 2
if [ -f "$build/CMakeCache.txt" ]; then
  made_in=$(sed -n 's/^CMAKE_CACHEFILE_DIR:INTERNAL=//p' "$build/CMakeCache.txt")
  made_from=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
  if [ "$(realpath -q "$made_in")" != "$(realpath "$build")" ] ||
    [ "$(realpath -q "$made_from")" != "$(realpath "$source")" ]; then
    rm -rf "$build"
  fi
fi
exec "$(dirname "$0")/quietly.sh" cmake -S "$source" -B "$build" "$@"
