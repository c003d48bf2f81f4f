#!/usr/bin/env bash
# Brings docker-compose.yml up for real with podman, without an image registry, and looks whether the parts found one another:
# every container healthy, the service scraped, the rules loaded, Alertmanager known, the recording on its volume, the
# dashboards where Grafana reads them. Then takes all of it down.
#
# Base images are made by debootstrap under the names that the files have, so it proves the wiring and not those versions;
# Grafana is a stand-in that only answers its health check. The Dockerfile is built as it is, with this user's Maven repository.
# Needs root, podman, runc, debootstrap, docker-compose, and a JDK 25 under /usr/lib/jvm. Takes 5 to 15 minutes, 8 GB of disk.
#
#   dashboards/test/compose/up.sh [--keep]      --keep leaves the images for the next time
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../../.."
here=dashboards/test/compose
project=mallometer-wiring
work=${TMPDIR:-/tmp}/$project
packages=ca-certificates,wget,busybox,openjdk-17-jdk-headless,maven,gcc,g++,cmake,make,git,prometheus,prometheus-alertmanager
images=(docker.io/library/debian:12 docker.io/library/eclipse-temurin:25-jre docker.io/prom/prometheus:v3.13.2
  docker.io/prom/alertmanager:v0.30.1 docker.io/grafana/grafana:13.1.3)

say() {
  printf 'compose: %s\n' "$*"
}

for program in podman runc debootstrap docker-compose; do
  command -v "$program" >/dev/null || { say "$program is missing" >&2; exit 1; }
done

export CONTAINERS_CONF=$PWD/$here/containers.conf
export APP_PORT=28180 PROMETHEUS_PORT=29190 ALERTMANAGER_PORT=29193 GRAFANA_PORT=23100
mkdir -p "$work"
service=

compose() {
  DOCKER_HOST=unix://$work/podman.sock docker-compose -p "$project" "$@"
}

clean_up() {
  [[ -z $service ]] || { compose down -v --timeout 10 >/dev/null 2>&1 || true; kill "$service"; }
  if [[ ${keep:-} != --keep ]]; then
    podman rmi -f "${images[@]}" "localhost/${project}_app" localhost/mallometer-debian >/dev/null 2>&1 || true
    rm -rf "$work"
  fi
}
keep=${1:-}
trap clean_up EXIT

debian() {
  podman image exists localhost/mallometer-debian && return
  say "making a Debian"
  debootstrap --variant=minbase --include="$packages" bookworm "$work/root" >"$work/debootstrap.log"
  tar -C "$work/root" -c . | podman import --quiet - localhost/mallometer-debian >/dev/null
  rm -rf "$work/root"
}

stand_ins() {
  say "making the stand-ins"
  local context=$work/context jdk index
  local stages=(debian temurin prometheus alertmanager grafana)
  jdk=$(find /usr/lib/jvm -maxdepth 1 -name '*25*' -type d -print -quit)
  mkdir -p "$context"
  cp -r "$jdk" "$context/jdk"
  for index in "${!stages[@]}"; do
    podman build --quiet --isolation chroot --target "${stages[$index]}" -t "${images[$index]}" -f "$here/Containerfile" "$context" >/dev/null
  done
  rm -rf "$context"
}

app() {
  say "building the Dockerfile"
  podman build --quiet --isolation chroot --network host --format docker --pull=never -v "$HOME/.m2:/root/.m2" \
    -f samples/leaky-service/Dockerfile -t "localhost/${project}_app:latest" . >/dev/null
  podman tag "localhost/${project}_app:latest" "docker.io/library/${project}_app:latest"
}

# wait_for SECONDS WHAT COMMAND...
wait_for() {
  local deadline=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < deadline)) || { say "not in time: $what" >&2; compose ps >&2; compose logs --tail 20 >&2; exit 1; }
    sleep 1
  done
  say "$what"
}

ask() {
  wget -q -T 5 -O - "http://127.0.0.1:$1"
}

up_to_date() {
  ask "$PROMETHEUS_PORT/api/v1/query?query=mallometer_active" | grep -q '"1"\]'
}

healthy() {
  podman healthcheck run "${project}_$1_1"
}

debian
stand_ins
app
podman system service --time=0 "unix://$work/podman.sock" &
service=$!
wait_for 20 "the engine answers" test -S "$work/podman.sock"
compose up -d --no-build
for name in app alertmanager prometheus grafana; do
  wait_for 120 "$name is healthy" healthy "$name"
done
wait_for 60 "the service is scraped, and counts" up_to_date
wait_for 30 "the rules are loaded" sh -c "wget -q -O - 'http://127.0.0.1:$PROMETHEUS_PORT/api/v1/rules' | grep -q NativeMemoryLeakSuspected"
wait_for 30 "Prometheus knows Alertmanager" sh -c "wget -q -O - 'http://127.0.0.1:$PROMETHEUS_PORT/api/v1/alertmanagers' | grep -q 'alertmanager:9093'"
wait_for 30 "Alertmanager has its configuration" sh -c "wget -q -O - 'http://127.0.0.1:$ALERTMANAGER_PORT/api/v2/status' | grep -q group_by"
wait_for 10 "the recording is on its volume" podman exec "${project}_app_1" test -s /record/recording
wait_for 10 "the service runs as nobody" sh -c "podman exec ${project}_app_1 id -un | grep -qx nobody"
for name in app alertmanager prometheus grafana; do
  wait_for 10 "the root of $name is read-only" sh -c "! podman exec ${project}_${name}_1 touch /etc/x"
  wait_for 10 "$name has no capability" podman exec "${project}_${name}_1" grep -qx 'CapEff:[[:space:]]*0*' /proc/self/status
done
wait_for 10 "its memory limit is seen" sh -c "wget -q -O - 'http://127.0.0.1:$APP_PORT/actuator/prometheus' | grep -qE '^cgroup_memory_limit_bytes.* 5.36870912E8'"
for file in provisioning/datasources/prometheus.yml provisioning/dashboards/mallometer.yml; do
  wait_for 10 "Grafana would find $file" podman exec "${project}_grafana_1" test -s "/etc/grafana/$file"
done
for name in fleet overview where; do
  wait_for 10 "Grafana would find mallometer-$name" podman exec "${project}_grafana_1" test -s "/var/lib/grafana/dashboards/mallometer-$name.json"
done
say "passed"
