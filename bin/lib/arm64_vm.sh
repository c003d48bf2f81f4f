# shellcheck shell=bash
# A machine for aarch64 with a kernel of its own, emulated by qemu-system-aarch64, for what only a kernel shows: pages
# and their accessed bits, single steps, cgroups. Its kernel and its programs are Debian's (arm64_root.sh); its processor
# is the one that qemu emulates, slowly, and with the memory order of this machine. To be sourced after arm64_root.sh.

# make_arm64_vm DIRECTORY ROOT KERNEL_ROOT : makes its kernel, initial ramdisk and disk there, of the programs in ROOT and
# the kernel in KERNEL_ROOT. Needs root, as who made these.
make_arm64_vm() {
  local vm=$1 root=$2 kernel_root=$3 kernel ramdisk module word rest
  require qemu-system-aarch64:qemu-system-arm mke2fs:e2fsprogs cpio:cpio depmod:kmod xz:xz-utils
  mkdir -p "$vm"
  kernel=$(basename "$kernel_root"/lib/modules/*)
  cp "$kernel_root/boot/vmlinuz-$kernel" "$vm/kernel"
  # Unpacked and not configured: some things are missing, and debootstrap has led /proc to this system's.
  if [[ -L $root/proc ]]; then rm "$root/proc" && mkdir "$root/proc"; fi
  ln -sf mawk "$root/usr/bin/awk"
  for word in passwd group; do cp "$root/usr/share/base-passwd/$word.master" "$root/etc/$word"; done

  ramdisk=$vm/ramdisk.d
  rm -rf "$ramdisk"
  mkdir -p "$ramdisk"/{bin,modules,proc,sys,dev,root}
  cp "$root/bin/busybox" "$ramdisk/bin/busybox"
  depmod -b "$kernel_root" "$kernel"
  for module in virtio_pci virtio_blk ext4; do
    modprobe -d "$kernel_root" -S "$kernel" --show-depends "$module"
  done | while read -r word module rest; do
    [[ $word == insmod ]] || continue
    cp "$module" "$ramdisk/modules/"
    module=${module##*/}
    [[ $module != *.xz ]] || xz -df "$ramdisk/modules/$module"
    grep -qx "${module%.xz}" "$ramdisk/modules/order" 2>/dev/null || echo "${module%.xz}" >>"$ramdisk/modules/order"
  done
  cat >"$ramdisk/init" <<'INIT'
#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t devtmpfs dev /dev
for m in $($b cat /modules/order); do $b insmod /modules/$m; done
i=0
while [ ! -b /dev/vdb ] && [ $i -lt 100 ]; do $b sleep 0.1; i=$((i + 1)); done
if $b mount -t ext4 /dev/vda /root && $b mkdir -p /root/.work && $b mount -t ext4 /dev/vdb /root/.work; then
  $b mount -t proc proc /root/proc
  $b mount -t sysfs sys /root/sys
  $b mount -t devtmpfs dev /root/dev
  $b mkdir -p /root/dev/shm
  $b mount -t tmpfs shm /root/dev/shm
  $b mount -t tmpfs tmp /root/tmp
  $b mount -t cgroup2 cgroup /root/sys/fs/cgroup
  $b ip link set lo up
  PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb $b chroot /root /bin/bash /.work/run
  $b sync
  $b umount /root/.work
fi
$b poweroff -f
INIT
  chmod 755 "$ramdisk/init"
  (cd "$ramdisk" && find . | cpio -o -H newc --quiet -R 0:0 | gzip -1) >"$vm/ramdisk"
  rm -f "$vm/disk"
  truncate -s 2500M "$vm/disk"
  mke2fs -q -t ext4 -O ^has_journal -d "$root" "$vm/disk"
}

# in_arm64_vm DIRECTORY SECONDS COMMAND FILE... : boots it, runs a command of its shell in this directory, and ends it,
# after so many seconds at the latest. The files, relative to this directory, are where they are here. The machine prints
# what the command does. Fails if the command does. Their disk is /.work there, where no directory of theirs lies.
in_arm64_vm() {
  local vm=$1 seconds=$2 command=$3 file code
  shift 3
  rm -rf "$vm/work.d"
  mkdir -p "$vm/work.d$PWD"
  for file in "$@"; do
    mkdir -p "$vm/work.d$PWD/$(dirname "$file")"
    cp -a "$file" "$vm/work.d$PWD/$file"
  done
  {
    printf 'mkdir -p %q && mount --bind /.work%q %q && cd %q\n' "$PWD" "$PWD" "$PWD" "$PWD"
    printf '(\n%s\n)\necho $? >/.work/code\n' "$command"
  } >"$vm/work.d/run"
  rm -f "$vm/work"
  truncate -s 1500M "$vm/work"
  mke2fs -q -t ext4 -O ^has_journal -d "$vm/work.d" "$vm/work"
  rm -rf "$vm/work.d"
  timeout "$seconds" qemu-system-aarch64 -M virt,mte=on -cpu max,pauth-impdef=on -smp 2 -m 3072 -accel tcg,thread=multi \
    -kernel "$vm/kernel" -initrd "$vm/ramdisk" -append "console=ttyAMA0 quiet panic=-1 loglevel=3" \
    -nographic -nodefaults -no-reboot -serial stdio \
    -drive "file=$vm/disk,format=raw,if=none,id=disk,snapshot=on" -device virtio-blk-pci,drive=disk \
    -drive "file=$vm/work,format=raw,if=none,id=work,cache=unsafe" -device virtio-blk-pci,drive=work </dev/null ||
    say "the machine did not end within $seconds s" >&2
  code=$(debugfs -R "cat /code" "$vm/work" 2>/dev/null)
  [[ $code == 0 ]]
}
