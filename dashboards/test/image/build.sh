#!/usr/bin/env bash
# Builds the image of dashboards/kubernetes/image for x86-64 and aarch64 with podman, without an image registry, and looks at what
# came out: its size, its user, what is in it, and that it copies as that user without any capability, with a root that is
# read-only, and without a network. That for aarch64 copies under emulation.
#
# The base image is made by debootstrap under the name that the Dockerfile has. Needs root, podman, runc, debootstrap, and
# qemu-user-static for aarch64. MAVEN_REPOSITORY names Maven's repository if it is not ~/.m2/repository. Takes 5 to 10
# minutes, 4 GB of disk.
#
#   dashboards/test/image/build.sh [--keep]      --keep leaves the images for the next time
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../../.."
keep=${1:-}
work=$(mktemp -d)
base=docker.io/library/debian:12
image=localhost/mallometer
made_base=false
packages=ca-certificates,openjdk-17-jdk-headless,maven,gcc,g++,cmake,make,git
packages+=,gcc-aarch64-linux-gnu,g++-aarch64-linux-gnu,libc6-dev-arm64-cross
export CONTAINERS_CONF=$PWD/dashboards/test/compose/containers.conf

say() {
  printf 'image: %s\n' "$*"
}

fail() {
  printf 'image: FAILED: %s\n' "$*" >&2
  exit 1
}

clean_up() {
  if [[ $keep != --keep ]]; then
    podman rmi -f "$image:amd64" "$image:arm64" >/dev/null 2>&1 || true
    ! $made_base || podman rmi -f "$base" >/dev/null 2>&1 || true
  fi
  rm -rf --one-file-system "$work"
}
trap clean_up EXIT

for program in podman runc debootstrap; do
  command -v "$program" >/dev/null || fail "$program is missing"
done

if ! podman image exists "$base"; then
  say "making a Debian"
  debootstrap --variant=minbase --include="$packages" bookworm "$work/root" >"$work/debootstrap.log" || fail "debootstrap"
  tar -C "$work/root" -c . | podman import --quiet - "$base" >/dev/null
  rm -rf "$work/root"
  made_base=true
fi

for architecture in amd64 arm64; do
  say "building for $architecture"
  podman build --quiet --isolation chroot --network host --pull=never --format docker --platform "linux/$architecture" \
    --build-arg BUILDPLATFORM=linux/amd64 -v "${MAVEN_REPOSITORY:-$HOME/.m2/repository}:/root/.m2/repository" \
    -f dashboards/kubernetes/image/Dockerfile -t "$image:$architecture" . >/dev/null
  [[ $(podman image inspect -f '{{.Architecture}}' "$image:$architecture") == "$architecture" ]] || fail "it is for another processor"
  [[ $(podman image inspect -f '{{.Config.User}}' "$image:$architecture") == 65534:65534 ]] || fail "it runs as somebody else"
  size=$(podman image inspect -f '{{.Size}}' "$image:$architecture")
  ((size < 8 << 20)) || fail "it has $size bytes"
  mkdir -p "$work/$architecture/root" "$work/$architecture/volume"
  podman save --quiet --format docker-dir -o "$work/$architecture/saved" "$image:$architecture" >/dev/null
  for layer in "$work/$architecture/saved"/*; do
    [[ $layer == *.json || $layer == *version ]] || tar -x -C "$work/$architecture/root" -f "$layer" 2>/dev/null || true
  done
  say "$architecture has $((size >> 10)) KiB: $(cd "$work/$architecture/root" && find . -type f -o -type l | sort | tr '\n' ' ')"
done

machine() {
  readelf -h "$1" | sed -n 's/ *Machine: *//p'
}

[[ $(machine "$work/amd64/root/bin/mallometer-copy") == *X86-64 ]] || fail "the copier for amd64"
[[ $(machine "$work/arm64/root/bin/mallometer-copy") == AArch64 ]] || fail "the copier for arm64"
cmp "$work/amd64/root/opt/mallometer/mallometer-agent.jar" "$work/arm64/root/opt/mallometer/mallometer-agent.jar"

chmod 1777 "$work"/*/volume
podman run --rm --read-only --cap-drop ALL --security-opt no-new-privileges --network none \
  -v "$work/amd64/volume:/mallometer" "$image:amd64" 2>&1 | tee "$work/said"
grep -q 'the library for linux-x86-64 and the agent are in /mallometer' "$work/said" || fail "it does not copy"
cmp "$work/amd64/volume/libmallometer.so" "$work/amd64/root/opt/mallometer/linux-x86-64/libmallometer.so"
[[ $(stat -c %a "$work/amd64/volume/record") == 1777 ]] || fail "the record's directory is not for everybody"
[[ $(stat -c %u "$work/amd64/volume/libmallometer.so") == 65534 ]] || fail "it runs as somebody else"
rm -rf "${work:?}"/amd64/volume/*
podman run --rm --read-only --cap-drop ALL --network none -v "$work/amd64/volume:/agents" --entrypoint cp "$image:amd64" \
  -r /opt/extension/. /agents
cmp "$work/amd64/volume/mallometer.agent" "$work/amd64/root/opt/mallometer/mallometer-agent.jar" || fail "cp does not copy"

if command -v qemu-aarch64-static >/dev/null; then
  # The root of an image of another processor, entered by the emulator that lies in it.
  install "$(command -v qemu-aarch64-static)" "$work/arm64/root/bin/qemu"
  mkdir "$work/arm64/root/mallometer"
  chroot "$work/arm64/root" /bin/qemu /bin/mallometer-copy /mallometer
  cmp "$work/arm64/root/mallometer/libmallometer.so" "$work/arm64/root/opt/mallometer/linux-aarch64/libmallometer.so" ||
    fail "the copier for aarch64 does not take its library"
fi
LD_PRELOAD=$work/amd64/root/opt/mallometer/libmallometer.so MALLOMETER_LOG=info sleep 0 2>&1 | grep -q counting || fail "the library does not count"
say "passed"
