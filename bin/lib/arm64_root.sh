# shellcheck shell=bash
# The programs and libraries of a Debian 12 for aarch64, for what only another processor shows: a JVM above all. They are
# unpacked, not installed, so nothing of it runs while it is made, which takes half a minute; it is kept, in
# $MALLOMETER_ARM64_ROOT, else in the user's cache. To be sourced after requirements.sh. Its programs run by their path
# in it, under in_arm64 COMMAND..., as this system's do. Needs root. debootstrap takes the mirror from $DEBIAN_MIRROR if
# that is set.

arm64_root=${MALLOMETER_ARM64_ROOT:-${XDG_CACHE_HOME:-$HOME/.cache}/mallometer/arm64}
arm64_suite=bookworm

# make_arm64_root PACKAGE... : makes it if it is absent. Other packages than it was made with take a new one.
make_arm64_root() {
  local part=$arm64_root.part packages archive
  ((EUID == 0)) || fail "this needs root: debootstrap makes $arm64_root"
  require debootstrap:debootstrap
  packages=$(printf '%s,' "$@")
  [[ $(cat "$arm64_root/packages" 2>/dev/null) != "$packages" ]] || return 0
  say "unpacking a Debian $arm64_suite for aarch64 with $* in $arm64_root"
  rm -rf --one-file-system "$part" "$arm64_root"
  mkdir -p "$part"
  debootstrap --foreign --arch=arm64 --variant=minbase --include="$packages" "$arm64_suite" "$part" \
    ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} >"$part.log" 2>&1 || fail "debootstrap failed: $(tail -n 5 "$part.log")"
  for archive in "$part"/var/cache/apt/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$archive" | tar -x -C "$part" --keep-directory-symlink
    rm "$archive"
  done
  printf '%s' "$packages" >"$part/packages"
  rm "$part.log"
  mv "$part" "$arm64_root"
}

in_arm64() {
  QEMU_LD_PREFIX=$arm64_root bin/lib/with_aarch64.sh "$@"
}
