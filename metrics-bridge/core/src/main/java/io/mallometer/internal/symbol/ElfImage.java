package io.mallometer.internal.symbol;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A 64-bit, little-endian library or executable in ELF: a file, or the memory into which the loader
 * mapped it. An address of the object has different positions in a file and in memory. Only files
 * have section headers and thus {@code .symtab}. Each count is bounded, so corrupt bytes cannot
 * cost much time or memory.
 */
final class ElfImage {

  private static final int HEADER_BYTES = 64;
  private static final int PROGRAM_HEADER_BYTES = 56;
  private static final int SECTION_HEADER_BYTES = 64;
  private static final int SYMBOL_BYTES = 24;
  private static final int DYNAMIC_BYTES = 16;

  /** The first bytes of an ELF file: the magic, then class 64 bits, little-endian, version 1. */
  private static final int MAGIC = 0x464c457f;

  private static final int CLASS_DATA_VERSION = 0x010102;

  private static final int MOST_PROGRAM_HEADERS = 256;
  private static final int MOST_DYNAMIC_ENTRIES = 512;
  private static final int MOST_NOTE_BYTES = 1 << 16;
  private static final int MOST_NAME_BYTES = 256;

  /** The largest number of symbols that are read; the largest libraries have one million. */
  private static final int MOST_SYMBOLS = 1 << 22;

  private static final int LOAD = 1;
  private static final int DYNAMIC = 2;
  private static final int NOTE = 4;
  private static final int SYMBOL_TABLE = 2;
  private static final int DYNAMIC_SYMBOL_TABLE = 11;
  private static final int BUILD_ID = 3;

  private static final int TAG_HASH = 4;
  private static final int TAG_STRINGS = 5;
  private static final int TAG_SYMBOLS = 6;
  private static final int TAG_STRINGS_BYTES = 10;
  private static final int TAG_SONAME = 14;
  private static final long TAG_GNU_HASH = 0x6ffffef5L;

  private record Segment(int type, long offset, long address, long fileBytes, long memoryBytes) {}

  /**
   * The entries of the dynamic section. Each address is converted to its position in the image;
   * absent entries are -1.
   */
  private record Dynamic(
      long symbols, long strings, long stringsBytes, long hash, long gnuHash, long soname) {}

  private final Bytes bytes;

  private final @Nullable RecordedModule mapped;

  private final ByteBuffer header;
  private final byte[] programHeaders;
  private final List<Segment> segments = new ArrayList<>();

  private ElfImage(
      Bytes bytes, @Nullable RecordedModule mapped, ByteBuffer header, byte[] programHeaders) {
    this.bytes = bytes;
    this.mapped = mapped;
    this.header = header;
    this.programHeaders = programHeaders;
    ByteBuffer fields = littleEndian(programHeaders);
    for (int at = 0; at < programHeaders.length; at += PROGRAM_HEADER_BYTES) {
      segments.add(
          new Segment(
              fields.getInt(at),
              fields.getLong(at + 8),
              fields.getLong(at + 16),
              fields.getLong(at + 32),
              fields.getLong(at + 40)));
    }
  }

  static Optional<ElfImage> ofFile(Bytes file) {
    return Optional.ofNullable(read(file, 0, null));
  }

  /** Returns the image of a module in memory; empty if the module is not mapped any more. */
  static Optional<ElfImage> ofMemory(Bytes memory, RecordedModule module) {
    ElfImage image = read(memory, module.begin(), module);
    return image != null && image.isAt(module) ? Optional.of(image) : Optional.empty();
  }

  private static @Nullable ElfImage read(
      Bytes bytes, long position, @Nullable RecordedModule mapped) {
    byte[] header = new byte[HEADER_BYTES];
    if (!bytes.read(position, header, HEADER_BYTES)) {
      return null;
    }
    ByteBuffer fields = littleEndian(header);
    int count = Short.toUnsignedInt(fields.getShort(56));
    if (fields.getInt(0) != MAGIC
        || (fields.getInt(4) & 0xffffff) != CLASS_DATA_VERSION
        || fields.getShort(54) != PROGRAM_HEADER_BYTES
        || count == 0
        || count > MOST_PROGRAM_HEADERS) {
      return null;
    }
    byte[] programHeaders = new byte[count * PROGRAM_HEADER_BYTES];
    return bytes.read(position + fields.getLong(32), programHeaders, programHeaders.length)
        ? new ElfImage(bytes, mapped, fields, programHeaders)
        : null;
  }

  /** Returns whether this is the image of the module. Another library may be at its addresses. */
  private boolean isAt(RecordedModule module) {
    if (!module.buildId().isEmpty()) {
      return module.buildId().equals(buildId());
    }
    for (Segment segment : segments) {
      long start = module.bias() + segment.address();
      boolean within = start >= module.begin() && start + segment.fileBytes() <= module.end();
      if (segment.type() == LOAD && !within) {
        return false;
      }
    }
    return true;
  }

  /**
   * Returns whether both images have the same program headers, which differ between nearly all
   * builds.
   */
  boolean hasHeadersOf(ElfImage other) {
    return Arrays.equals(programHeaders, other.programHeaders);
  }

  String buildId() {
    for (Segment segment : segments) {
      if (segment.type() == NOTE) {
        String id = buildId(segment);
        if (!id.isEmpty()) {
          return id;
        }
      }
    }
    return "";
  }

  private String buildId(Segment segment) {
    byte[] notes = new byte[(int) Math.max(0, Math.min(segment.fileBytes(), MOST_NOTE_BYTES))];
    if (!bytes.read(start(segment), notes, notes.length)) {
      return "";
    }
    ByteBuffer fields = littleEndian(notes);
    int at = 0;
    while (at + 12 <= notes.length) {
      int nameBytes = fields.getInt(at);
      int valueBytes = fields.getInt(at + 4);
      int room = notes.length - at - 12;
      if (nameBytes < 0 || nameBytes > room || valueBytes < 0 || valueBytes > room) {
        return "";
      }
      int value = at + 12 + aligned(nameBytes);
      if (value + valueBytes > notes.length) {
        return "";
      }
      boolean gnu = nameBytes == 4 && fields.getInt(at + 12) == 0x554e47;
      if (gnu && fields.getInt(at + 8) == BUILD_ID) {
        return HexFormat.of().formatHex(notes, value, value + valueBytes);
      }
      at = value + aligned(valueBytes);
    }
    return "";
  }

  private static int aligned(int length) {
    return (length + 3) & ~3;
  }

  /** Returns the name by which other libraries request this one from the loader. */
  Optional<String> soname() {
    Dynamic dynamic = dynamic();
    if (dynamic == null || dynamic.soname() < 0 || dynamic.strings() < 0) {
      return Optional.empty();
    }
    String name = text(dynamic.strings() + dynamic.soname());
    return name.isEmpty() ? Optional.empty() : Optional.of(name);
  }

  /** Returns the NUL-terminated string at a position; empty if it is too long or has no NUL. */
  private String text(long position) {
    byte[] text = new byte[MOST_NAME_BYTES];
    // The string may be the last one in a file or mapping, so a shorter length is tried too.
    int length = MOST_NAME_BYTES;
    while (length > 0 && !bytes.read(position, text, length)) {
      length /= 2;
    }
    for (int i = 0; i < length; i++) {
      if (text[i] == 0) {
        return new String(text, 0, i, StandardCharsets.UTF_8);
      }
    }
    return "";
  }

  /**
   * Adds the functions in the sections of a file. If the sections have no function, adds the
   * functions of the dynamic section.
   */
  void addFunctionsTo(SymbolTable.Builder table) {
    if (mapped == null) {
      addSections(table);
    }
    if (table.isEmpty()) {
      addDynamic(table);
    }
  }

  private void addSections(SymbolTable.Builder table) {
    long start = header.getLong(40);
    int count = Short.toUnsignedInt(header.getShort(60));
    if (header.getShort(58) != SECTION_HEADER_BYTES) {
      return;
    }
    byte[] sections = new byte[count * SECTION_HEADER_BYTES];
    if (!bytes.read(start, sections, sections.length)) {
      return;
    }
    ByteBuffer fields = littleEndian(sections);
    addSection(fields, SYMBOL_TABLE, table);
    addSection(fields, DYNAMIC_SYMBOL_TABLE, table);
  }

  /** Adds the symbols of the first section of a type; a valid file has no second one. */
  private void addSection(ByteBuffer fields, int type, SymbolTable.Builder table) {
    for (int at = 0; at < fields.limit(); at += SECTION_HEADER_BYTES) {
      if (fields.getInt(at + 4) == type) {
        long names = Integer.toUnsignedLong(fields.getInt(at + 40)) * SECTION_HEADER_BYTES;
        if (names < fields.limit()) {
          addSymbols(
              fields.getLong(at + 24),
              fields.getLong(at + 32) / SYMBOL_BYTES,
              fields.getLong((int) names + 24),
              fields.getLong((int) names + 32),
              table);
        }
        return;
      }
    }
  }

  private void addDynamic(SymbolTable.Builder table) {
    Dynamic dynamic = dynamic();
    if (dynamic != null && dynamic.symbols() >= 0 && dynamic.strings() >= 0) {
      addSymbols(
          dynamic.symbols(),
          symbolCount(dynamic),
          dynamic.strings(),
          dynamic.stringsBytes(),
          table);
    }
  }

  private void addSymbols(
      long position, long count, long strings, long stringsBytes, SymbolTable.Builder table) {
    int perRead = 2_048;
    byte[] chunk = new byte[perRead * SYMBOL_BYTES];
    ByteBuffer fields = littleEndian(chunk);
    long end = Math.min(count, MOST_SYMBOLS);
    for (long first = 0; first < end; first += perRead) {
      int read = (int) Math.min(perRead, end - first);
      if (!bytes.read(position + first * SYMBOL_BYTES, chunk, read * SYMBOL_BYTES)) {
        break;
      }
      for (int at = 0; at < read * SYMBOL_BYTES; at += SYMBOL_BYTES) {
        addSymbol(chunk, fields, at, table);
      }
    }
    table.name(bytes, strings, stringsBytes);
  }

  /** Adds a symbol. The JVM compiles this small method long before the loop that calls it. */
  private static void addSymbol(
      byte[] symbols, ByteBuffer fields, int at, SymbolTable.Builder table) {
    if (!isFunction(symbols, at)) {
      return;
    }
    table.noteFunction();
    if (table.isNear(page(symbols, at)) || isLarge(symbols, at)) {
      table.add(
          Byte.toUnsignedInt(fields.get(at + 4)),
          fields.getLong(at + 8),
          fields.getLong(at + 16),
          Integer.toUnsignedLong(fields.getInt(at)));
    }
  }

  private static boolean isFunction(byte[] symbols, int at) {
    boolean defined = (symbols[at + 6] | symbols[at + 7]) != 0;
    return defined && SymbolTable.Builder.isFunction(symbols[at + 4]);
  }

  /** Returns the number of the page on which a symbol begins, for an address below 4 GiB. */
  private static int page(byte[] symbols, int at) {
    return (symbols[at + 9] & 0xff) >>> 4
        | (symbols[at + 10] & 0xff) << 4
        | (symbols[at + 11] & 0xff) << 12;
  }

  private static boolean isLarge(byte[] symbols, int at) {
    return (symbols[at + 17] & 0xf0 | symbols[at + 18] | symbols[at + 19]) != 0;
  }

  /** Returns the number of symbols. Only the hash tables contain this number. */
  private long symbolCount(Dynamic dynamic) {
    if (dynamic.hash() >= 0) {
      return Math.max(0, word(dynamic.hash() + 4));
    }
    return dynamic.gnuHash() >= 0 ? symbolCount(dynamic.gnuHash()) : 0;
  }

  /**
   * Returns the number of symbols from the GNU hash table: the index behind the end of the last
   * chain. A chain ends with a hash whose lowest bit is set.
   */
  private long symbolCount(long gnuHash) {
    long buckets = word(gnuHash);
    long firstSymbol = word(gnuHash + 4);
    long filterWords = word(gnuHash + 8);
    if (buckets <= 0 || buckets > MOST_SYMBOLS || firstSymbol < 0 || filterWords < 0) {
      return 0;
    }
    long bucketsStart = gnuHash + 16 + filterWords * Long.BYTES;
    byte[] firsts = new byte[(int) buckets * Integer.BYTES];
    if (!bytes.read(bucketsStart, firsts, firsts.length)) {
      return 0;
    }
    ByteBuffer fields = littleEndian(firsts);
    long last = 0;
    for (int at = 0; at < firsts.length; at += Integer.BYTES) {
      last = Math.max(last, Integer.toUnsignedLong(fields.getInt(at)));
    }
    long chains = bucketsStart + firsts.length;
    for (; last >= firstSymbol && last < MOST_SYMBOLS; last++) {
      long hash = word(chains + (last - firstSymbol) * Integer.BYTES);
      if (hash < 0 || (hash & 1) != 0) {
        return hash < 0 ? 0 : last + 1;
      }
    }
    return 0;
  }

  private long word(long position) {
    byte[] word = new byte[Integer.BYTES];
    return bytes.read(position, word, word.length)
        ? Integer.toUnsignedLong(littleEndian(word).getInt())
        : -1;
  }

  private @Nullable Dynamic dynamic() {
    for (Segment segment : segments) {
      if (segment.type() == DYNAMIC) {
        long entries = segment.memoryBytes() / DYNAMIC_BYTES;
        return dynamic(start(segment), Math.min(entries, MOST_DYNAMIC_ENTRIES));
      }
    }
    return null;
  }

  private Dynamic dynamic(long position, long count) {
    long symbols = -1;
    long strings = -1;
    long stringsBytes = 0;
    long hash = -1;
    long gnuHash = -1;
    long soname = -1;
    byte[] entry = new byte[DYNAMIC_BYTES];
    ByteBuffer fields = littleEndian(entry);
    for (long i = 0; i < count; i++) {
      if (!bytes.read(position + i * DYNAMIC_BYTES, entry, DYNAMIC_BYTES)
          || fields.getLong(0) == 0) {
        break;
      }
      long tag = fields.getLong(0);
      long value = fields.getLong(8);
      if (tag == TAG_SYMBOLS) {
        symbols = position(value);
      } else if (tag == TAG_STRINGS) {
        strings = position(value);
      } else if (tag == TAG_STRINGS_BYTES) {
        stringsBytes = value;
      } else if (tag == TAG_HASH) {
        hash = position(value);
      } else if (tag == TAG_GNU_HASH) {
        gnuHash = position(value);
      } else if (tag == TAG_SONAME) {
        soname = value;
      }
    }
    return new Dynamic(symbols, strings, stringsBytes, hash, gnuHash, soname);
  }

  private long start(Segment segment) {
    return mapped == null ? segment.offset() : position(segment.address());
  }

  /**
   * Returns the position of an address of the object; -1 if the file does not contain it. In
   * memory, glibc has relocated the addresses of the dynamic section; musl has not.
   */
  private long position(long address) {
    if (mapped != null) {
      boolean relocated = address >= mapped.begin() && address < mapped.end();
      return relocated ? address : address + mapped.bias();
    }
    for (Segment segment : segments) {
      long within = address - segment.address();
      if (segment.type() == LOAD && within >= 0 && within < segment.fileBytes()) {
        return segment.offset() + within;
      }
    }
    return -1;
  }

  private static ByteBuffer littleEndian(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
