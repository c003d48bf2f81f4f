#!/usr/bin/env bash
# Builds the image of dashboards/kubernetes/image with podman for x86-64 and aarch64, under one manifest, without an image
# registry. contents.py checks what the manifest has for each processor. Then the image copies as its user without any
# capability, with a root that is read-only, and without a network; that for aarch64 copies under emulation.
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
image=localhost/mallometer:tried
label=io.mallometer.image=tried
made_base=false
packages=ca-certificates,openjdk-17-jdk-headless,maven,gcc,g++,cmake,make,git
packages+=,gcc-aarch64-linux-gnu,g++-aarch64-linux-gnu,libc6-dev-arm64-cross
export CONTAINERS_CONF=$PWD/dashboards/test/image/containers.conf

say() {
  printf 'image: %s\n' "$*"
}

fail() {
  printf 'image: FAILED: %s\n' "$*" >&2
  exit 1
}

# The images that the manifest lists have no names of their own.
remove_images() {
  local images
  podman manifest rm "$image" >/dev/null 2>&1 || true
  mapfile -t images < <(podman images --quiet --filter "label=$label")
  ((${#images[@]} == 0)) || podman rmi -f "${images[@]}" >/dev/null
}

clean_up() {
  if [[ $keep != --keep ]]; then
    remove_images || true
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

remove_images
say "building"
podman build --quiet --isolation chroot --network host --pull=never --platform linux/amd64,linux/arm64 --manifest "$image" \
  --build-arg BUILDER=linux/amd64 --label "$label" -v "${MAVEN_REPOSITORY:-$HOME/.m2/repository}:/root/.m2/repository" \
  -f dashboards/kubernetes/image/Dockerfile . >/dev/null
podman manifest push --quiet --all "$image" "oci:$work/layout"
mkdir "$work/roots" "$work/volume"
dashboards/test/image/contents.py "$work/layout" "$work/roots"
amd64=$work/roots/amd64
arm64=$work/roots/arm64

# podman takes the image for this processor from the manifest.
chmod 1777 "$work/volume"
podman run --pull never --rm --read-only --cap-drop ALL --security-opt no-new-privileges --network none \
  -v "$work/volume:/mallometer" "$image" 2>&1 | tee "$work/said"
grep -q 'the library for linux-x86-64 and the agent are in /mallometer' "$work/said" || fail "it does not copy"
cmp "$work/volume/libmallometer.so" "$amd64/opt/mallometer/linux-x86-64/libmallometer.so"
[[ $(stat -c %a "$work/volume/record") == 1777 ]] || fail "the record's directory is not for everybody"
[[ $(stat -c %u "$work/volume/libmallometer.so") == 65534 ]] || fail "it runs as somebody else"
rm -rf "${work:?}"/volume/*
podman run --pull never --rm --read-only --cap-drop ALL --network none -v "$work/volume:/agents" --entrypoint cp "$image" \
  -r /opt/extension/. /agents
cmp "$work/volume/mallometer.agent" "$amd64/opt/mallometer/mallometer-agent.jar" || fail "cp does not copy"

if command -v qemu-aarch64-static >/dev/null; then
  # The root of an image of another processor, entered by the emulator that lies in it.
  install "$(command -v qemu-aarch64-static)" "$arm64/bin/qemu"
  mkdir "$arm64/mallometer"
  chroot "$arm64" /bin/qemu /bin/mallometer-copy /mallometer 2>&1
  cmp "$arm64/mallometer/libmallometer.so" "$arm64/opt/mallometer/linux-aarch64/libmallometer.so" ||
    fail "the copier for aarch64 does not take its library"
else
  say "not run: the copier for aarch64, since qemu-aarch64-static is missing"
fi
LD_PRELOAD=$amd64/opt/mallometer/libmallometer.so MALLOMETER_LOG=info sleep 0 2>&1 | grep -q counting || fail "the library does not count"
say "passed"
