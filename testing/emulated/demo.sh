#!/usr/bin/env bash
# Runs bin/demo with its zlib leak, in the machine that bin/soak arm64 boots, until the leak is found; prints what was
# found and what the machine is. Fails if nothing is found within SECONDS (default 600). Spring takes minutes to start there.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."
seconds=${1:-600}
export JAVA_HOME=/usr/lib/jvm/java-17-openjdk-arm64 DEMO_START_SECONDS=1000

# By the shell: the static busybox of Debian 12 ends by a fault where it looks up a name.
ask() (
  exec 2>/dev/null 3<>/dev/tcp/127.0.0.1/18080 || exit 0
  printf 'GET /actuator/%s HTTP/1.0\r\n\r\n' "$1" >&3
  timeout 60 cat <&3 || true
)

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
grep -E '^(native_malloc_(leak_sites|leak_suspected_bytes|live_bytes)|mallometer_build_info)' <<<"$series" || true
ask nativememory/leaks | head -c 1500
echo
kill "$demo" 2>/dev/null || true
wait "$demo" || true
[[ $found == yes ]] || { cat /tmp/demo.log; exit 1; }
