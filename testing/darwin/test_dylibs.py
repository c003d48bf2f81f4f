"""Tests the libraries for macOS by reading the files: nothing here runs them.

python3 -m unittest discover -s testing/darwin, with MALLOMETER_DYLIBS naming a folder that has
macos-aarch64/libmallometer.dylib and macos-x86-64/libmallometer.dylib.
"""

import os
import pathlib
import re
import unittest
import zipfile

import macho

PROJECT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = pathlib.Path(os.environ.get("MALLOMETER_DYLIBS", PROJECT / "interposer/target/native"))
PROCESSORS = {"macos-aarch64": 0x0100000C, "macos-x86-64": 0x01000007}

FAMILY = {"malloc", "calloc", "realloc", "reallocf", "valloc", "aligned_alloc", "posix_memalign", "free"}
ZONES = {
    "malloc_zone_" + name
    for name in ("malloc", "calloc", "valloc", "realloc", "memalign", "free", "batch_malloc", "batch_free")
}
TYPED = {
    "malloc_type_" + name
    for name in (
        *("malloc", "calloc", "valloc", "realloc", "aligned_alloc", "posix_memalign", "free"),
        *("zone_malloc", "zone_calloc", "zone_valloc", "zone_realloc", "zone_memalign", "zone_free"),
    )
}


def library(platform):
    return macho.Library((FOLDER / platform / "libmallometer.dylib").read_bytes())


def of_header():
    text = (PROJECT / "interposer/include/mallometer.h").read_text()
    return set(re.findall(r"^MALLOMETER_API .*[ *](mallometer_[a-z_]+)\(", text, re.MULTILINE))


def of_bridge():
    text = (PROJECT / "interposer/src/control/java_calls.c").read_text()
    return {
        "Java_io_mallometer_internal_library_abi_DirectCalls_" + name
        for name in re.findall(r"^EXPORT .*METHOD\((\w+)\)\(JNIEnv \*, ", text, re.MULTILINE)
    }


class Jar(unittest.TestCase):
    def test_carries_both_where_the_bridge_looks_for_them(self):
        jar = os.environ.get("MALLOMETER_JAR")
        if not jar:
            self.skipTest("MALLOMETER_JAR names no jar")
        with zipfile.ZipFile(jar) as entries:
            for platform in PROCESSORS:
                name = f"{platform}/libmallometer.dylib"
                self.assertEqual(entries.read(name), (FOLDER / name).read_bytes())


class Dylibs(unittest.TestCase):
    def each(self):
        return [(platform, library(platform)) for platform in PROCESSORS]

    def test_are_dynamic_libraries_for_each_processor_from_macos_11_on(self):
        for platform, file in self.each():
            self.assertEqual(file.processor, PROCESSORS[platform])
            self.assertEqual(file.kind, 6)
            self.assertEqual((file.platform, file.oldest), (1, 11 << 16))

    def test_need_nothing_but_the_system(self):
        for _, file in self.each():
            self.assertEqual(file.name, "@rpath/libmallometer.dylib")
            self.assertEqual(file.needs, ["/usr/lib/libSystem.B.dylib"])

    def test_interpose_each_function_once_by_one_of_ours(self):
        for _, file in self.each():
            begin, size, _ = file.sections["__TEXT", "__text"]
            pairs = file.interposed()
            names = [name[1:] for _, name, _, _ in pairs]
            self.assertEqual(len(names), len(set(names)))
            self.assertEqual(set(names), FAMILY | ZONES | TYPED)
            ours = [address for address, *_ in pairs]
            self.assertEqual(len(ours), len(set(ours)))
            for address in ours:
                self.assertTrue(begin <= address < begin + size, hex(address))

    def test_do_without_the_typed_functions_where_the_system_has_none(self):
        for _, file in self.each():
            for _, name, ordinal, weak in file.interposed():
                typed = name[1:] in TYPED
                self.assertEqual((weak, ordinal), (typed, macho.FLAT_LOOKUP if typed else 1), name)

    def test_every_other_function_must_be_there(self):
        for _, file in self.each():
            flat = {name[1:] for name, ordinal, _ in file.bindings().values() if ordinal == macho.FLAT_LOOKUP}
            self.assertEqual(flat, TYPED)

    def test_export_what_the_library_for_linux_exports_but_for_mallocs_family(self):
        for _, file in self.each():
            self.assertEqual({name[1:] for name in file.exported()}, of_header() | of_bridge())

    def test_have_no_thread_local_variables_and_bind_at_load(self):
        for _, file in self.each():
            self.assertFalse([section for _, section in file.sections if section.startswith("__thread")])
            self.assertTrue(file.flags & 8, "MH_BINDATLOAD")
            self.assertFalse(file.undefined() & {"__tlv_bootstrap"})

    def test_begin_by_one_constructor(self):
        for _, file in self.each():
            self.assertEqual(file.sections["__DATA_CONST", "__mod_init_func"][1], 8)

    def test_have_no_paths_of_the_machine_that_built_them(self):
        for _, file in self.each():
            self.assertNotIn(str(PROJECT).encode(), file.content)
            self.assertNotIn(str(FOLDER).encode(), file.content)

    def test_the_one_for_arm64_is_signed_as_it_is(self):
        file = library("macos-aarch64")
        flags, identifier, right, limit = file.signed_pages()
        self.assertTrue(flags & 2, "ad hoc")
        self.assertTrue(identifier)
        self.assertEqual(limit, file.signature[0])
        self.assertEqual(limit + file.signature[1], len(file.content))
        self.assertGreater(len(right), 10)
        self.assertTrue(all(right), right)

    def test_a_signature_of_other_contents_is_told(self):
        content = bytearray((FOLDER / "macos-aarch64/libmallometer.dylib").read_bytes())
        content[5000] ^= 1
        self.assertEqual(macho.Library(bytes(content)).signed_pages()[2].count(False), 1)

    def test_another_file_is_refused(self):
        with self.assertRaises(ValueError):
            macho.Library(b"\x7fELF" + bytes(64))


if __name__ == "__main__":
    unittest.main()
