"""Reads the parts of a 64-bit Mach-O library that the tests need, by Apple's mach-o/loader.h, and the signature by the structs of xnu's
cs_blobs.h. Numbers are little-endian; those of the signature are big-endian."""

import hashlib
import struct

SEGMENT, SYMTAB, LOAD_DYLIB, ID_DYLIB, SIGNATURE, BUILD_VERSION, DYLD_INFO = 0x19, 0x2, 0xC, 0xD, 0x1D, 0x32, 0x80000022
FLAT_LOOKUP = -2


class Library:
    def __init__(self, content):
        self.content = content
        (magic, self.processor, _, self.kind, commands, _, self.flags, _) = struct.unpack_from("<8I", content)
        if magic != 0xFEEDFACF:
            raise ValueError("no Mach-O file for 64 bits")
        self.segments, self.sections, self.needs, self.name, self.signature = [], {}, [], None, None
        at = 32
        for _ in range(commands):
            command, size = struct.unpack_from("<2I", content, at)
            self._read(command, at, size)
            at += size

    def _read(self, command, at, size):
        content = self.content
        if command == SEGMENT:
            name, address, bytes_there, offset, length, _, _, sections, _ = struct.unpack_from("<16s4Q4I", content, at + 8)
            self.segments.append((_text(name), address, bytes_there, offset, length))
            for i in range(sections):
                section, segment, begin, section_bytes, place = struct.unpack_from("<16s16s2QI", content, at + 72 + 80 * i)
                self.sections[_text(segment), _text(section)] = (begin, section_bytes, place)
        elif command == SYMTAB:
            self.symbols = list(_symbols(content, *struct.unpack_from("<4I", content, at + 8)))
        elif command in (LOAD_DYLIB, ID_DYLIB):
            (offset,) = struct.unpack_from("<I", content, at + 8)
            name = _text(content[at + offset : at + size])
            if command == ID_DYLIB:
                self.name = name
            else:
                self.needs.append(name)
        elif command == SIGNATURE:
            self.signature = struct.unpack_from("<2I", content, at + 8)
        elif command == BUILD_VERSION:
            self.platform, self.oldest, _ = struct.unpack_from("<3I", content, at + 8)
        elif command == DYLD_INFO:
            self.rebase, self.bind = (struct.unpack_from("<2I", content, at + 8 + 8 * i) for i in (0, 1))

    def exported(self):
        return {name for name, kind, section in self.symbols if kind & 0x0F == 0x0F and section}

    def undefined(self):
        return {name for name, kind, section in self.symbols if kind & 0x0F == 0x01 and not section}

    def bindings(self):
        """Returns {address: (name, ordinal of the library or FLAT_LOOKUP, is weak)} of the words that dyld fills in."""
        found, at, end = {}, self.bind[0], sum(self.bind)
        name, ordinal, weak, address = "", 0, False, 0
        while at < end:
            byte = self.content[at]
            operation, small = byte & 0xF0, byte & 0x0F
            at += 1
            if operation == 0x10:
                ordinal = small
            elif operation == 0x20:
                ordinal, at = _number(self.content, at)
            elif operation == 0x30:
                ordinal = small - 16 if small else 0
            elif operation == 0x40:
                name, weak = _text(self.content[at:end]), bool(small & 1)
                at += len(name) + 1
            elif operation == 0x50:
                pass
            elif operation == 0x60:
                _, at = _signed(self.content, at)
            elif operation == 0x70:
                offset, at = _number(self.content, at)
                address = self.segments[small][1] + offset
            elif operation == 0x80:
                offset, at = _number(self.content, at)
                address += offset
            elif operation in (0x90, 0xA0, 0xB0):
                found[address] = (name, ordinal, weak)
                address += 8
                if operation == 0xA0:
                    offset, at = _number(self.content, at)
                    address += offset
                elif operation == 0xB0:
                    address += 8 * small
            elif operation == 0xC0:
                times, at = _number(self.content, at)
                skip, at = _number(self.content, at)
                for _ in range(times):
                    found[address] = (name, ordinal, weak)
                    address += 8 + skip
            address %= 1 << 64
        return found

    def interposed(self):
        """Returns [(address of this library's function, name, ordinal, is weak)] of the pairs that dyld reads."""
        begin, size, place = self.sections["__DATA", "__interpose"]
        bound = self.bindings()
        return [
            (struct.unpack_from("<Q", self.content, place + offset)[0], *bound[begin + offset + 8])
            for offset in range(0, size, 16)
        ]

    def signed_pages(self):
        """Returns (flags, identifier, [whether each page is what was signed], where the signed part ends); None if unsigned."""
        if not self.signature:
            return None
        begin, _ = self.signature
        magic, _, count = struct.unpack_from(">3I", self.content, begin)
        if magic != 0xFADE0CC0:
            raise ValueError("no signature")
        for i in range(count):
            kind, offset = struct.unpack_from(">2I", self.content, begin + 12 + 8 * i)
            if kind == 0:
                return self._directory(begin + offset)
        raise ValueError("no code directory")

    def _directory(self, at):
        magic, _, _, flags, hashes, identifier, _, pages, limit = struct.unpack_from(">9I", self.content, at)
        hash_bytes, hash_kind, _, page_bits = struct.unpack_from(">4B", self.content, at + 36)
        if magic != 0xFADE0C02 or hash_kind != 2:
            raise ValueError("no code directory by SHA-256")
        page = 1 << page_bits
        right = []
        for i in range(pages):
            signed = self.content[i * page : min((i + 1) * page, limit)]
            place = at + hashes + i * hash_bytes
            right.append(hashlib.sha256(signed).digest() == self.content[place : place + hash_bytes])
        if pages != (limit + page - 1) // page:
            right.append(False)
        return flags, _text(self.content[at + identifier :]), right, limit


def _text(content):
    return content[: content.index(0) if 0 in content else None].decode()


def _symbols(content, symbols, count, strings, _):
    for i in range(count):
        name, kind, section, _, _ = struct.unpack_from("<IBBHQ", content, symbols + 16 * i)
        yield _text(content[strings + name : content.index(0, strings + name) + 1]), kind, section


def _number(content, at):
    value = shift = 0
    while True:
        byte = content[at]
        value |= (byte & 0x7F) << shift
        shift += 7
        at += 1
        if byte < 0x80:
            return value, at


def _signed(content, at):
    begin = at
    value, at = _number(content, at)
    bits = 7 * (at - begin)
    return (value - (1 << bits) if content[at - 1] & 0x40 else value), at
