#!/bin/sh
# lay-out.sh DIRECTORY: lays out the image for each processor, below DIRECTORY/amd64 and DIRECTORY/arm64, from what
# mvn -P all-platforms -pl metrics-bridge/agent -am package has built. Run at the root of the repository.
set -eu
agent=metrics-bridge/agent/target/mallometer-agent.jar

compiler() {
  if [ "$(uname -m)" = "$1" ]; then echo gcc; else echo "$1-linux-gnu-gcc"; fi
}

# image DIRECTORY MACHINE PLATFORM
image() {
  mkdir -p "$1/bin" "$1/opt/extension"
  "$(compiler "$2")" -std=gnu11 -Os -static -s -Wall -Wextra -Werror -o "$1/bin/mallometer-copy" dashboards/kubernetes/image/copy.c
  ln -sf mallometer-copy "$1/bin/cp"
  for platform in linux-x86-64 linux-aarch64; do
    mkdir -p "$1/opt/mallometer/$platform"
    install -m 644 "interposer/target/native/$platform/libmallometer.so" "$1/opt/mallometer/$platform/"
  done
  install -m 644 "$agent" "$1/opt/mallometer/"
  install -m 644 LICENSE NOTICE "$1/opt/mallometer/"
  # For pods that mount the image itself, and for the OpenTelemetry Operator, whose agent takes every .jar for one of its own.
  ln -sf "$3/libmallometer.so" "$1/opt/mallometer/libmallometer.so"
  ln -sf ../mallometer/libmallometer.so "$1/opt/extension/libmallometer.so"
  ln -sf ../mallometer/mallometer-agent.jar "$1/opt/extension/mallometer.agent"
}

image "$1/amd64" x86_64 linux-x86-64
image "$1/arm64" aarch64 linux-aarch64
