#!/usr/bin/env bash
# Takes a picture of JConsole on a running JVM that mallometer counts, with the attributes of an MBean:
#   docs/site/jconsole.sh FILE JMX_PORT [Allocator|CallSites|Diagnosis|LeakDetector|NativeMemory]
# Installs what it needs, starts a virtual screen of its own, and operates JConsole by mouse and keyboard. Positions are those
# of JDK 17's JConsole in a window of fixed size; look at the picture afterwards.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."
source bin/lib/requirements.sh

(($# >= 2)) || fail "docs/site/jconsole.sh FILE JMX_PORT [MBEAN]"
picture=$1
jmx_port=$2
# As the tree sorts them.
case ${3:-Diagnosis} in
  Allocator) down=(Down) ;;
  CallSites) down=(Down Down) ;;
  Diagnosis) down=(Down Down Down) ;;
  LeakDetector) down=(Down Down Down Down) ;;
  NativeMemory) down=(Down Down Down Down Down) ;;
  *) fail "no MBean $3" ;;
esac

require Xvfb:xvfb xdotool:xdotool import:imagemagick openbox:openbox
require_jdk
# Swing needs fonts and the libraries of the full JDK.
[[ -x $JAVA_HOME/bin/jconsole && -e $JAVA_HOME/lib/libawt_xawt.so ]] || install_packages openjdk-17-jdk fonts-dejavu-core

work=$(mktemp -d)
started=()
finish() {
  local pid
  for pid in "${started[@]}"; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  rm -rf "$work"
}
trap finish EXIT

mkfifo "$work/display"
Xvfb -displayfd 3 -screen 0 1000x760x24 -nolisten tcp 3>"$work/display" 2>/dev/null &
started=("$!" "${started[@]}")
DISPLAY=:$(head -n 1 "$work/display")
export DISPLAY
openbox 2>/dev/null &
started=("$!" "${started[@]}")
"$JAVA_HOME/bin/jconsole" -interval=1 "127.0.0.1:$jmx_port" 2>/dev/null &
started=("$!" "${started[@]}")

click() {
  xdotool mousemove "$1" "$2" click 1
  sleep 1
}

press() {
  local key
  for key in "$@"; do
    xdotool key "$key"
    sleep 0.7
  done
}

# Wide enough for the tree on the left and the values on the right.
window=$(timeout 60 xdotool search --sync --onlyvisible --name 'Java Monitoring' | tail -n 1)
sleep 25
xdotool windowmove "$window" 0 0 windowsize "$window" 980 720
sleep 2
# The first try is with SSL; a dialog then offers an insecure connection.
click 363 222
sleep 12
# The tab MBeans, a wider tree, and in it io.mallometer, the MBean, Attributes.
click 440 78
xdotool mousemove 171 400 mousedown 1 mousemove 190 400 mousemove 230 400 mouseup 1
click 100 120
xdotool type --delay 80 io.m
press Right "${down[@]}" Right Down
sleep 3

mkdir -p "$(dirname "$picture")"
import -window "$window" "$picture"
say "took $picture; look at it"
