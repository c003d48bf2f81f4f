#!/usr/bin/env bash
# Runs bin/demo with its zlib leak, in the machine that bin/soak arm64 boots, until the leak is found; prints what was
# found and what the machine is. Fails if nothing is found within SECONDS (default 600).
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."
seconds=${1:-600}
page=http://127.0.0.1:18080/actuator
export JAVA_HOME=/usr/lib/jvm/java-17-openjdk-arm64 DEMO_START_SECONDS=400

ask() {
  busybox wget -q -T 20 -O - "$page/$1" 2>/dev/null || true
}

bin/demo --leak zlib --time-scale 60 --limit 900 >/tmp/demo.log 2>&1 &
demo=$!
found=no
while ((SECONDS < seconds)) && kill -0 "$demo" 2>/dev/null; do
  series=$(ask prometheus)
  if grep -qE '^native_malloc_leak_suspected_bytes\{.*[1-9]' <<<"$series"; then
    found=yes
    break
  fi
  sleep 5
done
printf 'leak found after %s s: %s\n' "$SECONDS" "$found"
grep -E '^(native_malloc_(leak_sites|leak_suspected_bytes|live_bytes)|mallometer_build)' <<<"$series" || true
ask nativememory/leaks | head -c 1500
echo
kill "$demo" 2>/dev/null || true
wait "$demo" || true
[[ $found == yes ]] || { cat /tmp/demo.log; exit 1; }
