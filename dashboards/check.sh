#!/usr/bin/env bash
# Checks what can be checked of dashboards, rules and the compose file without running them: the committed JSON is what the
# code generates, the compose file is valid for the oldest and the current schema, Prometheus accepts its configuration,
# the rules fire and are silent when they should, the Kubernetes files render and are valid, and these checks find planted
# faults.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"

# install DIRECTORY: what its package-lock.json names, unless it is there.
install() {
  local stamp=$1/node_modules/.installed
  if ! cmp -s "$1/package-lock.json" "$stamp"; then
    npm --prefix "$1" ci --silent --no-audit --no-fund
    cp "$1/package-lock.json" "$stamp"
  fi
}

install grafana
install test/render
install test/kubernetes
npm --prefix test/render exec -- tsc --project test/render
npm --prefix grafana run --silent generate -- target
for generated in grafana/target/*.json; do
  diff -u "grafana/${generated##*/}" "$generated" ||
    { echo "dashboards/grafana: run 'npm run generate' and commit the result" >&2; exit 1; }
done

docker-compose --file ../docker-compose.yml config -q
npm --prefix grafana run --silent lint-compose -- ../../docker-compose.yml
promtool check config --lint=all --lint-fatal prometheus/prometheus.yml
amtool check-config alertmanager/alertmanager.yml
promtool test rules prometheus/tests/*.yml
python3 test/rules.py
python3 test/dashboards.py
python3 -m unittest discover -s test
