#!/bin/sh
# java_agent.sh LIBRARY: MALLOMETER_AGENT, seen by env in the place of a JVM.
set -eu
library=$1
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
touch agent.jar
export MALLOMETER_ONLY=env MALLOMETER_AGENT="$PWD/agent.jar=port=1"

# seen COMMAND...: JAVA_TOOL_OPTIONS as a program sees it that the library is loaded into.
seen() {
  LD_PRELOAD=$library "$@" 2>errors | sed -n 's/^JAVA_TOOL_OPTIONS=//p'
}

# is WHAT EXPECTED ACTUAL
is() {
  [ "$2" = "$3" ] || { echo "$1: '$3', not '$2'; $(cat errors)"; exit 1; }
}

is "alone" "-javaagent:$MALLOMETER_AGENT" "$(seen env)"
is "no word of it" "" "$(cat errors)"
is "behind other options" "-Xmx1m -javaagent:$MALLOMETER_AGENT" "$(seen env JAVA_TOOL_OPTIONS=-Xmx1m env)"
is "once, in a program that the first starts" "-javaagent:$MALLOMETER_AGENT" "$(seen env env)"
is "not where it is named already" "-javaagent:$PWD/agent.jar=port=2" \
  "$(seen env JAVA_TOOL_OPTIONS="-javaagent:$PWD/agent.jar=port=2" env)"
is "for programs that are named" "" "$(MALLOMETER_ONLY=java seen env)"
is "for java, if none is named" "" "$(seen env -u MALLOMETER_ONLY env | grep -v . || true)"
is "not where it is off" "" "$(MALLOMETER_ENABLED=off seen env)"

is "a missing file" "" "$(MALLOMETER_AGENT=$PWD/none.jar=port=1 seen env)"
is "it is said" "mallometer: MALLOMETER_AGENT: $PWD/none.jar: No such file or directory; the agent is not started" "$(cat errors)"
is "what was there stays" "-Xmx1m" "$(JAVA_TOOL_OPTIONS=-Xmx1m MALLOMETER_AGENT=none.jar seen env)"
long=$(printf '%09000d' 1)
is "no room" "$long" "$(JAVA_TOOL_OPTIONS=$long seen env)"
is "a long path" "" "$(MALLOMETER_AGENT=$long seen env)"
grep -q "the path is too long; the agent is not started" errors
