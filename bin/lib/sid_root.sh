# shellcheck shell=bash
# A Debian sid beside this system, for what this system has not: the newest C library, and JDKs from 8 to those in early
# access. To be sourced after requirements.sh.
#
# The root is made once, in two minutes, and kept: in $MALLOMETER_SID_ROOT, else in the user's cache. What it holds is of
# the day it was made; to have a newer one, remove it. Another suite than sid is made with debian_suite and sid_root set to
# it and to a directory of its own. Needs root, for chroot and mounts, which in_root.sh keeps to the
# command that it runs. debootstrap takes the mirror from $DEBIAN_MIRROR if that is set.

sid_root=${MALLOMETER_SID_ROOT:-${XDG_CACHE_HOME:-$HOME/.cache}/mallometer/sid}

# make_sid_root PACKAGE... : makes the root if it is absent, and installs what it lacks of these packages.
make_sid_root() {
  local package missing=()
  ((EUID == 0)) || fail "this needs root: it runs programs of another Debian in $sid_root"
  require debootstrap:debootstrap unshare:util-linux chroot:coreutils
  [[ -e $sid_root/etc/debian_version ]] || new_sid_root
  for package in "$@"; do
    # grep -q would end before dpkg, whose failed write counts as a missing package.
    in_sid_root dpkg -s "$package" 2>/dev/null | grep '^Status: install ok installed' >/dev/null || missing+=("$package")
  done
  ((${#missing[@]} == 0)) || install_in_sid_root "${missing[@]}"
}

# One that was interrupted is no root: it has its name when it is whole.
new_sid_root() {
  local part=$sid_root.part
  say "making a Debian ${debian_suite:-sid} in $sid_root"
  rm -rf --one-file-system "$part"
  mkdir -p "$part"
  unshare --mount debootstrap --variant=minbase "${debian_suite:-sid}" "$part" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} >"$part.log" 2>&1 ||
    fail "debootstrap failed: $(tail -n 5 "$part.log")"
  printf '#!/bin/sh\nexit 101\n' >"$part/usr/sbin/policy-rc.d"
  chmod 755 "$part/usr/sbin/policy-rc.d"
  rm "$part.log"
  mv "$part" "$sid_root"
}

# A mirror may serve a state of sid that is older than sid promises to be.
install_in_sid_root() {
  say "installing $* in $sid_root"
  in_sid_root apt-get -qq -o Acquire::Check-Valid-Until=false update
  in_sid_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -y -o Dpkg::Use-Pty=0 install --no-install-recommends "$@" >/dev/null
}

# in_sid_root COMMAND... : runs a command there.
in_sid_root() {
  bin/lib/in_root.sh "$sid_root" "$@"
}

# use_debian SUITE: the root of another suite beside that of sid, for those that follow.
use_debian() {
  debian_suite=$1
  [[ $1 == sid ]] || sid_root=${sid_root%/*}/$1
}

# in_debian SUITE VERSION WHICH: tests the built library in a suite of Debian: runs its C tests ("quick" or "all",
# in_other_debian.sh), a JVM of that version with Java frames by name and a scrape, and breakdown_with.
in_debian() (
  library=$PWD/interposer/target/native/linux-x86-64/libmallometer.so
  use_debian "$1"
  make_sid_root gcc libc6-dev "openjdk-$2-jdk-headless"
  say "JDK $2 of Debian $1"
  code=0
  in_sid_root interposer/test/in_other_debian.sh "$library" "$3" || code=$?
  python3 testing/emulated/jvm.py "$(sid_jdk "$2")/bin/java" "$library" metrics-bridge/agent/target/mallometer-agent.jar ||
    code=$?
  breakdown_with "$(sid_jdk "$2")/bin/java" "$3" || code=$?
  exit "$code"
)

# breakdown_with JAVA WHICH: tests the breakdown of a JVM's memory, in one way of running it ("quick") or in all.
breakdown_with() {
  local ways=()
  [[ $2 != quick ]] || ways=(plain)
  python3 testing/debians/breakdown.py "$1" "$PWD/interposer/target/native/linux-x86-64/libmallometer.so" \
    metrics-bridge/agent/target/mallometer-agent.jar "${ways[@]}"
}

# newest_jdk_of_sid: prints the newest version that sid can be given; those in early access come and go.
newest_jdk_of_sid() {
  local version
  for version in 28 27 26 25; do
    if (make_sid_root "openjdk-$version-jdk-headless") >&2; then
      printf '%s\n' "$version"
      return
    fi
  done
  fail "no JDK of Debian sid can be installed"
}

# sid_jdk VERSION: prints the home of a JDK of the root, to be used from outside: its programs run in the root.
sid_jdk() {
  local inside home=$sid_root.jdks/$1 program
  inside=$(find "$sid_root/usr/lib/jvm" -maxdepth 1 -type d -name "java-$1-openjdk-*" -printf '/usr/lib/jvm/%f')
  [[ -n $inside ]] || fail "there is no JDK $1 in $sid_root"
  mkdir -p "$home/bin"
  # JDK 8 of Debian has none.
  cp "$sid_root$inside/release" "$home/release" 2>/dev/null || printf 'JAVA_VERSION="%s"\n' "$1" >"$home/release"
  # shellcheck disable=SC2016 # for the script
  printf '#!/bin/sh\nexec %q %q %q/bin/"${0##*/}" "$@"\n' "$PWD/bin/lib/in_root.sh" "$sid_root" "$inside" >"$home/inside"
  chmod 755 "$home/inside"
  for program in "$sid_root$inside"/bin/*; do
    ln -sf ../inside "$home/bin/${program##*/}"
  done
  printf '%s\n' "$home"
}
