# shellcheck shell=bash
# Builds what bin/demo runs, when it is absent or older than its sources. A stamp remembers when the last build began,
# because the built files carry fixed dates (the build is reproducible).

service_jar() {
  find samples/leaky-service/target -maxdepth 1 -name 'mallometer-leaky-service-*.jar' 2>/dev/null | head -n 1
}

build_stamp=samples/leaky-service/target/built

is_built() {
  [[ -n $(service_jar) && -r metrics-bridge/agent/target/mallometer-agent.jar && -e $build_stamp ]] &&
    [[ -z $(find pom.xml interposer metrics-bridge spring-starter samples testing/gates \
      \( -name target -o -name e2e \) -prune -o -type f -newer "$build_stamp" -print -quit) ]]
}

# Maven options of a build without tests, for scripts that use the artifacts.
# shellcheck disable=SC2034 # for those who source this
untested=(-DskipTests -Dnative.target=mallometer -Dspotless.check.skip -Dinvoker.skip)

# build GOAL... : runs Maven and remembers its success.
build() {
  local began
  began=$(mktemp)
  mvn -B "$@" || {
    rm -f "$began"
    return 1
  }
  touch -r "$began" "$build_stamp"
  rm -f "$began"
}
