#!/bin/sh
# in_root.sh ROOT COMMAND... : becomes a command in the root directory of another Debian, which sees this system's
# processes, devices, /tmp, this repository and Maven's libraries at the places where they are here. The mounts are in a
# namespace of their own and end with the command. Needs root.
set -eu
if [ "${IN_ROOT_UNSHARED:-}" != true ]; then
  IN_ROOT_UNSHARED=true exec unshare --mount "$0" "$@"
fi
unset IN_ROOT_UNSHARED
root=$1
shift
here=$(pwd)
mount -t proc proc "$root/proc"
for place in /sys /dev /tmp "$(cd "$(dirname "$0")/../.." && pwd)" "$HOME/.m2"; do
  [ -d "$place" ] || continue
  mkdir -p "$root$place"
  mount --rbind "$place" "$root$place"
done
# shellcheck disable=SC2016 # for the shell inside
exec chroot "$root" /bin/sh -c 'cd "$0" 2>/dev/null || cd /; exec "$@"' "$here" "$@"
