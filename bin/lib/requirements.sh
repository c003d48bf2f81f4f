# shellcheck shell=bash
# Installs what the commands in bin/ need from the system. Each need is named beside the Debian package that brings it. A need
# that is met causes nothing; missing packages are named before they are installed. This works as root or through sudo, on
# Debian 12 and its relatives; elsewhere one message names the missing packages.

say() {
  printf '%s: %s\n' "${0##*/}" "$*"
}

fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# require NEED:PACKAGE... : installs the packages of all needs that are not met, at once, or ends with one message that names
# them all. A need is a program, a file by its path, a shared library by its name (libz.so.1), a JDK (jdk-17) or a statement of
# Python (import yaml).
require() {
  local need packages=()
  for need in "$@"; do
    # A package may bring several needs.
    is_met "${need%:*}" || [[ " ${packages[*]} " == *" ${need##*:} "* ]] || packages+=("${need##*:}")
  done
  ((${#packages[@]} == 0)) || install_packages "${packages[@]}"
}

is_met() {
  case $1 in
    /*) [[ -e $1 ]] ;;
    *.so.*) [[ -n $(find /usr/lib -name "$1" -print -quit 2>/dev/null) ]] ;;
    jdk-*) jdk_home "${1#jdk-}" >/dev/null ;;
    import\ *) python3 -c "$1" 2>/dev/null ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

install_packages() {
  local as_root=() install="apt-get update && apt-get install --no-install-recommends $*"
  command -v apt-get >/dev/null || fail "packages are missing. Debian names them: $*"
  if ((EUID != 0)); then
    can_sudo || fail "$# packages are missing. Install them as root: $install"
    as_root=(sudo)
  fi
  watched "installing $# packages: $*" apt_install "$@" || fail "apt-get failed. Install the packages as root: $install"
}

# apt_install PACKAGE... : installs packages by the command that install_packages has put into as_root.
apt_install() {
  "${as_root[@]}" apt-get -q update &&
    without_starting_services "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get -q -y -o Dpkg::Use-Pty=0 install --no-install-recommends "$@"
}

# can_sudo: succeeds if sudo works. sudo asks for a password only if there is a terminal.
can_sudo() {
  command -v sudo >/dev/null && { sudo -n true 2>/dev/null || { [[ -t 0 ]] && sudo -v; }; }
}

# watched WHAT COMMAND... : runs a command with long output. Shows WHAT, the step and the seconds instead; if the command fails,
# also the end of its output.
watched() {
  local log code=0
  log=$(mktemp)
  "${@:2}" </dev/null 2>&1 | tee "$log" | show_steps "$1" || code=$?
  ((code == 0)) || grep -vE '^(\[(INFO|WARNING)\]|$)' "$log" | tail -n 60 >&2
  rm -f "$log"
  return "$code"
}

# show_steps WHAT: reads the output of Maven or apt-get. On a terminal, one line shows the step and the seconds. Elsewhere there
# is a line for each of Maven's modules and for each half minute.
show_steps() {
  local read=0 line="" part step="" began=$SECONDS seconds shown="" told=0 module='^\[INFO\] Building (mallometer.*) [^ ]+ +\[(.*)/(.*)\]$'
  say "$1"
  while true; do
    IFS= read -r -t 1 part && read=0 || read=$?
    ((read == 0 || read > 128)) || break
    line+=$part
    seconds=$((SECONDS - began))
    if ((read == 0)); then
      if [[ $line =~ $module ]]; then
        step="${BASH_REMATCH[1]} (${BASH_REMATCH[2]} of ${BASH_REMATCH[3]})"
        [[ -t 1 ]] || told=-30
      elif [[ $line =~ ^Get:[0-9]+(\ [^ ]+){3}\ ([^ ]+) ]]; then step="downloading ${BASH_REMATCH[2]}"
      elif [[ $line =~ ^(Unpacking|Setting\ up)\ ([^ ]+) ]]; then step="${BASH_REMATCH[1],} ${BASH_REMATCH[2]}"; fi
      line=""
    fi
    if [[ -t 1 ]]; then
      [[ "$step $seconds" == "$shown" ]] || printf '\r%s: %s, %d s\e[K' "${0##*/}" "$step" "$seconds"
      shown="$step $seconds"
    elif ((seconds - told >= 30)); then
      say "${step:+$step, }$seconds s"
      told=$seconds
    fi
  done
  [[ ! -t 1 ]] || printf '\r\e[K'
  say "took $((SECONDS - began)) s"
}

# Succeeds if the package sources have a package.
is_offered() {
  [[ -n $(apt-cache madison "$1" 2>/dev/null) ]]
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

# Needs of the Maven build.
build_tools=(jdk-17:openjdk-17-jdk-headless mvn:maven gcc:gcc g++:g++ cmake:cmake make:make git:git)

# What builds for aarch64 on another machine, and runs it there under emulation.
aarch64_tools=()
# shellcheck disable=SC2034 # for those who source this
[[ $(uname -m) == aarch64 ]] || aarch64_tools=(aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu aarch64-linux-gnu-g++:g++-aarch64-linux-gnu
  qemu-aarch64-static:qemu-user-static unshare:util-linux /usr/aarch64-linux-gnu/include/stdio.h:libc6-dev-arm64-cross)

require_build_tools() {
  require "${build_tools[@]}"
  require_jdk
}

# Sets JAVA_HOME to a JDK 17, the one that everything is built with, or keeps it if it names one.
require_jdk() {
  require jdk-17:openjdk-17-jdk-headless
  JAVA_HOME=$(jdk_home 17) || fail "JDK 17 is still missing after its installation"
  export JAVA_HOME
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
