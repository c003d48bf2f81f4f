#!/usr/bin/env python3
"""Checks what an image of mallometer contains, for each processor that its manifest lists.

    contents.py LAYOUT DIRECTORY

LAYOUT is an OCI layout, as `podman manifest push --all IMAGE oci:LAYOUT` writes it. The files of each processor are
unpacked in DIRECTORY/amd64 and DIRECTORY/arm64. Prints a line for each; ends with 1 and a sentence if something is not as
the Dockerfile promises.
"""

import hashlib
import json
import os
import struct
import sys
import tarfile

MACHINES = {"amd64": 62, "arm64": 183}  # e_machine of <elf.h>
LIBRARIES = {"linux-x86-64": "amd64", "linux-aarch64": "arm64"}
LARGEST = 8 << 20
PROGRAM = "bin/mallometer-copy"
FILES = "opt/mallometer/"
LINKS = {
    "bin/cp": PROGRAM,
    FILES + "libmallometer.so": None,  # the library of the processor
    "opt/extension/libmallometer.so": None,
    "opt/extension/mallometer.agent": FILES + "mallometer-agent.jar",
}
REGULAR = {PROGRAM} | {FILES + name for name in ("LICENSE", "NOTICE", "mallometer-agent.jar")} | {
    f"{FILES}{platform}/libmallometer.so" for platform in LIBRARIES
}


def expect(condition, sentence):
    if not condition:
        sys.exit(f"image: FAILED: {sentence}")


class Layout:
    """A store of blobs that are named by their hashes."""

    def __init__(self, directory):
        self.directory = directory

    def path(self, descriptor):
        algorithm, digest = descriptor["digest"].split(":")
        path = os.path.join(self.directory, "blobs", algorithm, digest)
        with open(path, "rb") as blob:
            expect(hashlib.new(algorithm, blob.read()).hexdigest() == digest, f"{path} has another hash than its name")
        return path

    def json(self, descriptor):
        with open(self.path(descriptor), encoding="utf-8") as blob:
            return json.load(blob)

    def images(self):
        """The descriptors of the images that the manifest lists."""
        with open(os.path.join(self.directory, "index.json"), encoding="utf-8") as index:
            entries = json.load(index)["manifests"]
        expect(len(entries) == 1, "the layout has more than one image")
        return self.json(entries[0])["manifests"]


def elf(path):
    """The machine of an ELF file, and whether it asks for a dynamic loader."""
    with open(path, "rb") as file:
        data = file.read()
    expect(data[:6] == b"\x7fELF\x02\x01", f"{path} is no ELF file of 64 bits")
    machine = struct.unpack_from("<H", data, 18)[0]
    offset = struct.unpack_from("<Q", data, 32)[0]
    size, count = struct.unpack_from("<HH", data, 54)
    types = [struct.unpack_from("<I", data, offset + i * size)[0] for i in range(count)]
    return machine, 3 in types  # PT_INTERP


def check(layout, descriptor, directory):
    processor = descriptor["platform"]["architecture"]
    manifest = layout.json(descriptor)
    image = layout.json(manifest["config"])
    config = image["config"]
    expect(descriptor["platform"]["os"] == image["os"] == "linux", f"{processor}: not for Linux")
    expect(image["architecture"] == processor, f"the manifest says {processor} of an image for {image['architecture']}")
    expect(config.get("User") == "65534:65534", f"{processor}: runs as {config.get('User')!r}")
    expect(config.get("Entrypoint") == ["mallometer-copy"], f"{processor}: starts {config.get('Entrypoint')}")

    root = os.path.join(directory, processor)
    os.mkdir(root)
    found = {}
    for layer in manifest["layers"]:
        with tarfile.open(layout.path(layer)) as archive:
            members = archive.getmembers()
            found.update({member.name.removeprefix("./"): member for member in members})
            archive.extractall(root)
    regular = {name for name, member in found.items() if member.isreg()}
    links = {name for name, member in found.items() if member.issym()}
    others = {name for name, member in found.items() if not member.isdir()} - regular - links
    expect(regular == REGULAR, f"{processor}: files more or less than expected: {sorted(regular ^ REGULAR)}")
    expect(links == set(LINKS) and not others, f"{processor}: links {sorted(links)}, others {sorted(others)}")
    for name in regular:
        mode = found[name].mode
        expect(mode & 0o444 == 0o444 and not mode & 0o6022, f"{processor}: {name} has mode {mode:o}")

    for platform, machine in LIBRARIES.items():
        library = os.path.join(root, FILES, platform, "libmallometer.so")
        expect(elf(library)[0] == MACHINES[machine], f"{processor}: the library for {platform} is for another processor")
    machine, dynamic = elf(os.path.join(root, PROGRAM))
    expect(machine == MACHINES[processor], f"{processor}: the copier is for another processor")
    expect(not dynamic, f"{processor}: the copier is not static")
    own = next(platform for platform, machine in LIBRARIES.items() if machine == processor)
    for link, target in LINKS.items():
        target = target or f"{FILES}{own}/libmallometer.so"
        expect(os.path.realpath(os.path.join(root, link)) == os.path.realpath(os.path.join(root, target)), f"{processor}: {link} is not {target}")

    size = sum(found[name].size for name in regular)
    expect(size < LARGEST, f"{processor}: {size} bytes")
    packed = sum(layer["size"] for layer in manifest["layers"])
    print(
        f"linux/{processor}: {size / (1 << 20):.2f} MiB in {len(regular)} files, {packed / (1 << 20):.2f} MiB compressed, user {config['User']}, "
        f"static copier, both libraries, no shell, no JRE"
    )
    return {name: sha256(os.path.join(root, name)) for name in regular - {PROGRAM}}


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def main(layout, directory):
    layout = Layout(layout)
    images = layout.images()
    processors = sorted(image["platform"]["architecture"] for image in images)
    expect(processors == sorted(MACHINES), f"the manifest lists {processors}")
    hashes = [check(layout, image, directory) for image in images]
    expect(hashes[0] == hashes[1], "the libraries or the agent are not the same for both processors")


if __name__ == "__main__":
    main(*sys.argv[1:])
