#!/usr/bin/env bash
# run.sh STAGED VERSION [REPOSITORY]: copies three small projects to another place, lets Maven build them with the artifacts of
# STAGED, of which they have nothing else, and runs them as the README says. Other people's artifacts are taken from
# REPOSITORY (~/.m2/repository) before Maven asks for them.
set -euo pipefail
staged=$(readlink -f "$1")
version=$2
others=${3:-$HOME/.m2/repository}
here=$(dirname "$(readlink -f "$0")")
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
work=$(mktemp -d)
running=
clean_up() {
  [[ -z $running ]] || kill "$running" 2>/dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT

say() {
  printf 'published: %s\n' "$*"
}

# expect WHAT PATTERN FILE
expect() {
  grep -qE -- "$2" "$3" || {
    tail -n 30 "$3" >&2
    say "FAILED: $1" >&2
    exit 1
  }
  say "$1"
}

# answer ADDRESS PATTERN: waits until the address answers with the pattern, and keeps the last answer.
answer() {
  local deadline=$((SECONDS + 120))
  until curl -sf -m 5 "http://127.0.0.1:$1" >"$work/answer" && grep -qE "$2" "$work/answer"; do
    if ((SECONDS > deadline)) || ! kill -0 "$running" 2>/dev/null; then break; fi
    sleep 0.5
  done
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Hard links where the disk is the same; nothing of mallometer's.
mkdir "$work/repository"
if [[ -d $others ]]; then
  cp -rl "$others/." "$work/repository" 2>/dev/null || cp -r "$others/." "$work/repository"
  rm -rf "$work/repository/io/mallometer"
fi
cp -r "$here/spring" "$here/plain" "$here/tests" "$work"
cat >"$work/settings.xml" <<END
<settings>
  <localRepository>$work/repository</localRepository>
  <profiles>
    <profile>
      <id>staged</id>
      <properties><mallometer.version>$version</mallometer.version></properties>
      <repositories><repository><id>staged</id><url>file://$staged</url></repository></repositories>
      <pluginRepositories><pluginRepository><id>staged</id><url>file://$staged</url></pluginRepository></pluginRepositories>
    </profile>
  </profiles>
  <activeProfiles><activeProfile>staged</activeProfile></activeProfiles>
</settings>
END

# maven PROJECT ARGUMENT...
maven() {
  (cd "$work/$1" && env -u MAVEN_OPTS mvn -B -q -ntp -s "$work/settings.xml" "${@:2}") >"$work/$1.log" 2>&1
}

for project in plain spring; do
  maven "$project" package || {
    tail -n 30 "$work/$project.log" >&2
    say "FAILED: $project is not built" >&2
    exit 1
  }
done

cd "$work/plain"
"$java" -cp "target/plain-1.jar:target/libraries/*" example.Program >"$work/plain.log" 2>&1 || true
expect "a plain program attaches the library" 'ATTACHED|attached' "$work/plain.log"
ls target/libraries >"$work/libraries"
expect "the library brings JNA, and nothing but it and annotations" '^3$' <(grep -vc '^jna-' "$work/libraries")

port=$(free_port)
"$java" -javaagent:target/mallometer-agent.jar="port=$port" "$here/Wait.java" >"$work/agent.log" 2>&1 &
running=$!
answer "$port/metrics" '^native_malloc_live_bytes'
expect "a program with the agent shows its series" '^native_malloc_live_bytes' "$work/answer"
kill "$running"

maven tests verify -Dmallometer.update || {
  tail -n 30 "$work/tests.log" >&2
  say "FAILED: the tests of tests do not pass" >&2
  exit 1
}
expect "the goal writes thresholds of what tests used" '"native.alloc.calls"' "$work/tests/mallometer/thresholds/example.CodecTest.compresses.json"
maven tests verify -DargLine=-Dmore=true || true
expect "the goal fails a build whose tests use more" 'worse  example.CodecTest.compresses native.alloc.calls' "$work/tests.log"
maven tests verify -DargLine=-Dleak=true || true
expect "a test that leaks fails" 'CodecTest.keepsNothing.*Native memory grows by' "$work/tests.log"
cd "$work/tests"
"$java" -cp "target/classes:target/libraries/*" org.openjdk.jmh.Main -f 1 -wi 2 -w 200ms -i 3 -r 200ms -prof io.mallometer.jmh.NativeMemoryProfiler \
  >"$work/jmh.log" 2>&1 || true
expect "a benchmark shows its calls of malloc" 'Codec.compress:native.alloc.calls .* (6|12|18)\.0' "$work/jmh.log"

cd "$work/spring"
port=$(free_port)
"$java" -jar target/spring-1.jar --server.port="$port" --server.address=127.0.0.1 \
  --management.endpoints.web.exposure.include=health,prometheus,nativememory >"$work/spring.log" 2>&1 &
running=$!
answer "$port/actuator/prometheus" '^native_malloc_live_bytes'
expect "an application with the starter shows its series" '^native_malloc_live_bytes' "$work/answer"
expect "it logs one line" 'Native memory is counted since .* \(attached\)' "$work/spring.log"
answer "$port/actuator/nativememory/page" '<html'
expect "it has a page" '<html' "$work/answer"
kill "$running"
running=
