package io.mallometer.internal.symbol;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Finds the library name of a module, and the function at an address in it. Reads a module at the
 * first request. Stores only functions that contain a requested address, because a JVM has a
 * hundred thousand functions.
 *
 * <p>A file may have been replaced under the same path. So it is used only if its build id or,
 * without one, its program headers are those of the mapped module. Otherwise the dynamic symbols in
 * memory are used.
 *
 * <p>Used by one thread at a time.
 */
final class ModuleSymbols {

  private static final int MOST_MODULES = 1_024;
  private static final int MOST_NAMES_BYTES = 24 << 20;
  private static final long MOST_BYTES = 32L << 20;

  private static final long[] NOTHING = {};
  private static final SymbolTable EMPTY = new SymbolTable.Builder(0, NOTHING).build();

  private record Entry(String library, boolean named, SymbolTable table) {}

  private final ModuleImages images;
  private final long mostBytes;
  private final Map<RecordedModule, Entry> entries = new LinkedHashMap<>(16, 0.75f, true);

  ModuleSymbols(ModuleImages images) {
    this(images, MOST_BYTES);
  }

  ModuleSymbols(ModuleImages images, long mostBytes) {
    this.images = images;
    this.mostBytes = mostBytes;
  }

  String library(RecordedModule module) {
    Entry entry = entries.get(module);
    return entry == null ? load(module, null, NOTHING).library() : entry.library();
  }

  /**
   * Reads the functions of many addresses in one pass, before {@link #symbol} asks for them.
   *
   * @param addresses in the module, in ascending order
   */
  void lookUp(RecordedModule module, long[] addresses) {
    long[] asked = new long[addresses.length];
    for (int i = 0; i < asked.length; i++) {
      asked[i] = addresses[i] - module.bias();
    }
    load(module, entries.get(module), asked);
  }

  Optional<SymbolTable.Symbol> symbol(RecordedModule module, long address) {
    Entry entry = entries.get(module);
    long asked = address - module.bias();
    return entry == null || !entry.table().answers(asked)
        ? load(module, entry, new long[] {asked}).table().at(asked)
        : entry.table().at(asked);
  }

  long bytes() {
    long bytes = 0;
    for (Entry entry : entries.values()) {
      bytes += entry.table().bytes();
    }
    return bytes;
  }

  private Entry load(RecordedModule module, @Nullable Entry previous, long[] asked) {
    Entry read = read(module, asked);
    // The SONAME of an unloaded module can no longer be read, so the entry keeps the name that was
    // read earlier.
    Entry entry =
        previous == null || !previous.named() || read.named()
            ? read
            : new Entry(previous.library(), true, read.table());
    entries.put(module, entry);
    shrink();
    return entry;
  }

  /**
   * Frees memory, beginning with the least recently used module. While there are too many modules,
   * it removes whole modules. If only their memory is too large, it keeps the modules and drops
   * their functions. The most recently used module stays as it is.
   */
  private void shrink() {
    long bytes = bytes();
    Iterator<Map.Entry<RecordedModule, Entry>> eldest = entries.entrySet().iterator();
    while (bytes > mostBytes || entries.size() > MOST_MODULES) {
      Map.Entry<RecordedModule, Entry> entry = eldest.next();
      if (!eldest.hasNext()) {
        return;
      }
      bytes -= entry.getValue().table().bytes() - EMPTY.bytes();
      if (entries.size() > MOST_MODULES) {
        eldest.remove();
      } else {
        Entry old = entry.getValue();
        entry.setValue(new Entry(old.library(), old.named(), EMPTY));
      }
    }
  }

  private Entry read(RecordedModule module, long[] asked) {
    Optional<String> file = images.file(module);
    // The loader's path of the executable is empty, so the path of the file replaces it.
    String path = module.path().isEmpty() ? file.orElse("") : module.path();
    Optional<Bytes> memory = images.memory();
    try {
      ElfImage mapped =
          memory.isPresent() ? ElfImage.ofMemory(memory.get(), module).orElse(null) : null;
      return read(module, file, path, mapped, asked);
    } finally {
      memory.ifPresent(Bytes::close);
    }
  }

  private Entry read(
      RecordedModule module,
      Optional<String> file,
      String path,
      @Nullable ElfImage mapped,
      long[] asked) {
    Entry read = ofFile(module, file, path, mapped, asked);
    if (read == null) {
      read = ofFile(module, images.mappedFile(module), path, mapped, asked);
    }
    if (read == null && mapped != null) {
      read = entry(mapped, path, new SymbolTable.Builder(MOST_NAMES_BYTES, asked), asked);
    }
    return read == null ? unread(path) : read;
  }

  /** Returns null if there is no file, if it is not the mapped one, or if it has no functions. */
  private @Nullable Entry ofFile(
      RecordedModule module,
      Optional<String> file,
      String path,
      @Nullable ElfImage mapped,
      long[] asked) {
    Optional<Bytes> opened = file.isPresent() ? images.open(file.get()) : Optional.empty();
    if (opened.isEmpty()) {
      return null;
    }
    try {
      Optional<ElfImage> image = ElfImage.ofFile(opened.get());
      if (image.isEmpty() || !isOf(module, image.get(), mapped)) {
        return null;
      }
      SymbolTable.Builder functions = new SymbolTable.Builder(MOST_NAMES_BYTES, asked);
      Entry entry = entry(image.get(), path, functions, asked);
      return asked.length > 0 && functions.isEmpty() ? null : entry;
    } finally {
      opened.ifPresent(Bytes::close);
    }
  }

  private static boolean isOf(RecordedModule module, ElfImage file, @Nullable ElfImage mapped) {
    return module.buildId().isEmpty()
        ? mapped != null && file.hasHeadersOf(mapped) && file.buildId().isEmpty()
        : file.buildId().equals(module.buildId());
  }

  private static Entry entry(
      ElfImage image, String path, SymbolTable.Builder functions, long[] asked) {
    if (asked.length > 0) {
      image.addFunctionsTo(functions);
    }
    Optional<String> soname = image.soname();
    return new Entry(
        LibraryName.of(soname, path),
        soname.isPresent(),
        asked.length > 0 ? functions.build() : EMPTY);
  }

  /**
   * Returns an entry that has no function for any address, so that {@link #symbol} does not read
   * the module again.
   */
  private static Entry unread(String path) {
    return new Entry(
        LibraryName.of(Optional.empty(), path), false, new SymbolTable.Builder(0).build());
  }
}
