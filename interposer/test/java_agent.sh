#!/bin/sh
# java_agent.sh LIBRARY: tests MALLOMETER_AGENT, with env instead of a JVM.
set -eu
library=$1
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
# An empty archive consists of its end record.
printf 'PK\005\006%018d' 0 | tr 0 '\000' >agent.jar
export MALLOMETER_ONLY=env MALLOMETER_AGENT="$PWD/agent.jar=port=1"

# seen COMMAND...: prints JAVA_TOOL_OPTIONS as seen by a program with the library.
seen() {
  LD_PRELOAD=$library "$@" 2>errors | sed -n 's/^JAVA_TOOL_OPTIONS=//p'
}

# is WHAT EXPECTED ACTUAL
is() {
  [ "$2" = "$3" ] || { echo "$1: '$3', not '$2'; $(cat errors)"; exit 1; }
}

# said: prints the line on standard error, without the sentence that tells what to do.
said() {
  grep -q '\. [A-Z][^.]*\.$' errors || echo "no advice:"
  sed 's/\. [A-Z][^.]*\.$//' errors
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
is "it is said" "mallometer: MALLOMETER_AGENT: $PWD/none.jar: No such file or directory; the agent is not started" "$(said)"
is "what was there stays" "-Xmx1m" "$(JAVA_TOOL_OPTIONS=-Xmx1m MALLOMETER_AGENT=none.jar seen env)"
long=$(printf '%09000d' 1)
is "no room" "$long" "$(JAVA_TOOL_OPTIONS=$long seen env)"
is "a long path" "" "$(MALLOMETER_AGENT=$long seen env)"
grep -q "the path is too long; the agent is not started" errors

# refused WHAT AGENT REASON [COMMAND]: checks that no agent is named, and that one line tells the reason.
refused() {
  is "$1" "" "$(MALLOMETER_AGENT=$2 seen "${4:-env}")"
  is "$1: it is said" "mallometer: MALLOMETER_AGENT: $3; the agent is not started" "$(said)"
}

head -c 21 agent.jar >short.jar
{ cat agent.jar; echo; } >long.jar
mkdir folder.jar "a folder"
cp agent.jar "a folder"
: >empty.jar
for jar in empty short long folder; do
  refused "$jar.jar" "$PWD/$jar.jar=port=1" "$PWD/$jar.jar: the jar is incomplete"
done
forbidden="JAVA_TOOL_OPTIONS cannot hold blanks and quotes"
refused "a blank in the path" "$PWD/a folder/agent.jar" "$forbidden"
refused "a blank in the options" "$PWD/agent.jar=label=a b" "$forbidden"
refused "a line end in the options" "$PWD/agent.jar=port=1
" "$forbidden"
refused "a quote" "$PWD/agent.jar=label='a'" "$forbidden"

before="-javaagent:$PWD/agent.jar.old"
is "beside a jar whose name begins so" "$before -javaagent:$MALLOMETER_AGENT" "$(JAVA_TOOL_OPTIONS=$before seen env)"
before="$before -javaagent:$PWD/agent.jar -Xmx1m"
is "not where it is named later" "$before" "$(JAVA_TOOL_OPTIONS=$before seen env)"

# Makes a run-time image, with env instead of its launcher.
export MALLOMETER_ONLY=java
mkdir -p image/bin
cp "$(command -v env)" image/bin/java
for folder in lib lib/amd64 lib/aarch64 jre/lib/amd64 jre/lib/aarch64; do
  refused "a JVM without java.instrument" "$MALLOMETER_AGENT" "this JVM lacks the module java.instrument" image/bin/java
  mkdir -p "image/$folder"
  touch "image/$folder/libinstrument.so"
  is "a JVM with $folder/libinstrument.so" "-javaagent:$MALLOMETER_AGENT" "$(seen image/bin/java)"
  rm "image/$folder/libinstrument.so"
done
