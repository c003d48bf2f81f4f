#!/bin/sh
# with_aarch64.sh COMMAND... : runs a command on a machine of another kind as if the kernel could execute programs for
# aarch64: those that it starts run under emulation (qemu-user-static), with the libraries in $QEMU_LD_PREFIX, by
# default those of Debian's cross compiler. The kernel is told in a user namespace of the command's own (Linux 6.7 or
# newer), so the machine stays as it is. Where the kernel can execute them already, nothing is set up.
set -eu
QEMU_LD_PREFIX=${QEMU_LD_PREFIX-/usr/aarch64-linux-gnu}
export QEMU_LD_PREFIX
if [ "$(uname -m)" = aarch64 ]; then
  unset QEMU_LD_PREFIX
  exec "$@"
fi
# shellcheck disable=SC2016 # for the shell inside
exec unshare --user --map-root-user --mount --propagation private sh -euc '
  mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
  magic="\\x7fELF\\x02\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\xb7\\x00"
  mask="\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xfe\\xff\\xff\\xff"
  printf "%s" ":mallometer-aarch64:M::$magic:$mask:$(command -v qemu-aarch64-static):OCF" \
    >/proc/sys/fs/binfmt_misc/register
  exec "$@"' sh "$@"
