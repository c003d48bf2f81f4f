#!/usr/bin/env bash
# with_darwin.sh COMMAND... : runs a command, such as mvn -P macos package, with what the libraries for macOS are built with
# on Linux: Debian's clang and lld, which are installed if they are missing, and the folder that darwin_sdk.sh makes.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=bin/lib/requirements.sh
source "$here/requirements.sh"
# shellcheck source=bin/lib/darwin_sdk.sh
source "$here/darwin_sdk.sh"
make_darwin_sdk
exec "$@"
