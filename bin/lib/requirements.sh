# shellcheck shell=bash
# What the commands in bin/ need from the system. Each need is named as a program and the Debian package that brings it:
# nothing happens when the program is there, and what is installed is said before it is installed. Works as root or
# through sudo, on Debian 12 and its relatives; elsewhere it says what is missing.

say() {
  printf '%s: %s\n' "${0##*/}" "$*"
}

fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# require PROGRAM:PACKAGE...
require() {
  local need packages=()
  for need in "$@"; do
    # A package may bring several of the programs.
    command -v "${need%%:*}" >/dev/null || [[ " ${packages[*]} " == *" ${need#*:} "* ]] || packages+=("${need#*:}")
  done
  if ((${#packages[@]} > 0)); then
    install_packages "${packages[@]}"
  fi
}

# require_library FILE:PACKAGE... : the same for shared libraries that the loader finds by that name.
require_library() {
  local need packages=()
  for need in "$@"; do
    [[ -n $(find /usr/lib -name "${need%%:*}" -print -quit) ]] || packages+=("${need#*:}")
  done
  if ((${#packages[@]} > 0)); then
    install_packages "${packages[@]}"
  fi
}

install_packages() {
  command -v apt-get >/dev/null || fail "please install: $*"
  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "missing: $*. Run this once as root, or install sudo"
    as_root=(sudo)
  fi
  say "installing $*"
  "${as_root[@]}" apt-get -qq update
  without_starting_services "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -y -o Dpkg::Use-Pty=0 install --no-install-recommends "$@" >/dev/null
}

# without_starting_services [sudo] COMMAND...: Debian packages start their services unless policy-rc.d forbids it with
# exit code 101. One that is there already stays in charge.
without_starting_services() (
  policy=/usr/sbin/policy-rc.d
  as_root=()
  [[ $1 != sudo ]] || as_root=(sudo)
  if [[ ! -e $policy ]]; then
    trap '"${as_root[@]}" rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
    "${as_root[@]}" chmod 755 "$policy"
  fi
  "$@"
)

# Everything that the Maven build runs.
require_build_tools() {
  require_jdk
  require mvn:maven gcc:gcc g++:g++ cmake:cmake make:make git:git
}

# What builds for aarch64 on another machine, and runs it there under emulation.
require_aarch64() {
  [[ $(uname -m) != aarch64 ]] || return 0
  require aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu aarch64-linux-gnu-g++:g++-aarch64-linux-gnu \
    qemu-aarch64-static:qemu-user-static unshare:util-linux
  [[ -e /usr/aarch64-linux-gnu/include/stdio.h ]] || install_packages libc6-dev-arm64-cross
}

# Sets JAVA_HOME to a JDK 17, the one that everything is built with, or keeps it if it names one.
require_jdk() {
  local home
  if ! home=$(jdk_home 17); then
    install_packages openjdk-17-jdk-headless
    home=$(jdk_home 17) || fail "JDK 17 is still missing after its installation"
  fi
  export JAVA_HOME=$home
}

# jdk_home VERSION: prints the home of a JDK of that feature version, or fails.
jdk_home() {
  jdks | awk -v wanted="$1" '$1 == wanted { print $2; found = 1; exit } END { exit !found }'
}

# Prints "VERSION HOME" for every JDK found in JAVA_HOME, JDK_HOMES (separated by colons) and under /usr/lib/jvm; the first
# of each version counts.
jdks() {
  local homes home version
  IFS=: read -r -a homes <<<"${JAVA_HOME:-}:${JDK_HOMES:-}"
  for home in "${homes[@]}" /usr/lib/jvm/*; do
    if [[ -x $home/bin/javac && -r $home/release ]]; then
      version=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$home/release")
      printf '%s %s\n' "$version" "$(readlink -f "$home")"
    fi
  done | awk '!seen[$1]++'
}
