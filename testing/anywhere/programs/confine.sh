#!/bin/sh
# confine.sh WORK [FEATURE...] -- COMMAND... : becomes a command in a root directory of its own: this system's programs and
# settings, read-only; the directory WORK as /anywhere, read-only; and directories to write to, unless a feature says
# otherwise. To be run as root in a mount namespace of its own, with which all of it ends.
#
#   read-only   nothing can be written to
#   no-tmp      there is no /tmp
#   noexec      what can be written to is mounted noexec
#   no-proc     there is no /proc
#   hidepid     /proc shows a user's own processes only
#   nobody      uid 65534, and no HOME
#   bind=PATH   that directory of this system is there too
#   loopback    in a network namespace of its own: its loopback interface is started
set -eu
work=$1
shift
features=' '
while [ "$1" != -- ]; do
  features="$features$1 "
  shift
done
shift

has() {
  case $features in *" $1 "*) return 0 ;; esac
  return 1
}

root=$work/root
mount -t tmpfs -o mode=755 anywhere "$root"
cd "$root"
for place in bin sbin lib lib32 lib64 libx32; do
  if [ -h "/$place" ]; then
    cp -d "/$place" "$place"
  elif [ -d "/$place" ]; then
    mkdir "$place"
    mount --rbind "/$place" "$place"
  fi
done
mkdir usr etc dev sys proc anywhere
mount --rbind /usr usr
mount --bind /etc etc
mount --bind "$work" anywhere
for place in etc anywhere; do mount -o remount,bind,ro "$place"; done
for device in null zero full random urandom tty; do
  : >"dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done
ln -s /proc/self/fd dev/fd

if has hidepid; then
  mount -t proc -o hidepid=invisible proc proc
elif ! has no-proc; then
  mount -t proc proc proc
fi

if ! has read-only; then
  options=mode=1777
  if has noexec; then options=$options,noexec; fi
  writable='tmp root home dev/shm var/tmp'
  if has no-tmp; then writable='root home dev/shm var/tmp'; fi
  for place in $writable; do
    mkdir -p "$place"
    mount -t tmpfs -o "$options" anywhere "$place"
  done
elif ! has no-tmp; then
  mkdir tmp
fi
for feature in $features; do
  case $feature in bind=*)
    mkdir -p ".${feature#bind=}"
    mount --bind "${feature#bind=}" ".${feature#bind=}"
    mount -o remount,bind,ro ".${feature#bind=}"
    ;;
  esac
done
mount -o remount,ro "$root"

if has loopback; then ip link set lo up; fi
unset OLDPWD
if has nobody; then
  exec chroot "$root" /usr/bin/env -u HOME setpriv --reuid 65534 --regid 65534 --clear-groups -- "$@"
fi
exec chroot "$root" "$@"
