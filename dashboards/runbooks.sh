#!/usr/bin/env bash
# Puts the address under which you keep this repository's docs/runbooks in the place of the one that alerts and dashboards
# have now:  dashboards/runbooks.sh https://wiki.example.org/mallometer
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"

if (($# != 1)) || [[ ! $1 =~ ^https?://[A-Za-z0-9./_~:-]+$ ]]; then
  sed -n '2,3s/^# //p' runbooks.sh >&2
  exit 2
fi
find . -name node_modules -prune -o -name target -prune -o -type f \( -name '*.json' -o -name '*.yml' -o -name '*.yaml' -o -name '*.ts' \) \
  -exec sed -i -E "s#https?://[A-Za-z0-9./_~:-]+/docs/runbooks/#${1%/}/docs/runbooks/#g" {} +
