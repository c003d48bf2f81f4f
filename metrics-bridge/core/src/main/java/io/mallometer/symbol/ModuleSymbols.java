package io.mallometer.symbol;

import java.io.IOException;
import java.lang.ref.SoftReference;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The library names and symbol tables of modules, read when they are first asked for. Tables give
 * way when the heap is short, and the least recently used ones when all together are too large;
 * then they are read again when they are needed.
 *
 * <p>A file is believed only if it is the object that is mapped: it has the recorded build id, or
 * where there is none, the program headers that are in memory. A library may have been replaced by
 * a newer one under the same path. Without such a file there is what is mapped: the dynamic
 * symbols.
 *
 * <p>Used by one thread at a time.
 */
final class ModuleSymbols {

  private static final int MOST_MODULES = 1_024;
  private static final int MOST_NAMES_BYTES = 24 << 20;
  private static final long MOST_BYTES = 32L << 20;

  private static final SymbolTable EMPTY = new SymbolTable.Builder(0).build();

  /** What is known of a module. */
  private record Entry(
      String library, boolean named, SoftReference<SymbolTable> table, long bytes) {}

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

  /** The name of a module's library. */
  String library(RecordedModule module) {
    Entry entry = entries.get(module);
    return entry == null ? load(module, Optional.empty()).library() : entry.library();
  }

  /** The function in which an address of a module lies. */
  Optional<SymbolTable.Symbol> symbol(RecordedModule module, long address) {
    Entry entry = entries.get(module);
    SymbolTable table = entry == null ? null : entry.table().get();
    if (table == null) {
      table = load(module, Optional.ofNullable(entry)).table().get();
    }
    return Optional.ofNullable(table).flatMap(known -> known.at(address - module.bias()));
  }

  /** What the tables take of the heap, about. */
  long bytes() {
    return entries.values().stream().mapToLong(Entry::bytes).sum();
  }

  private Entry load(RecordedModule module, Optional<Entry> previous) {
    Entry read = read(module);
    // A library that has been unloaded since keeps the name that it gave itself.
    Entry entry =
        previous.filter(Entry::named).isPresent() && !read.named()
            ? new Entry(previous.get().library(), true, read.table(), read.bytes())
            : read;
    entries.put(module, entry);
    shrink();
    return entry;
  }

  /** Drops tables, and at last names, in the order of their last use; never those in use. */
  private void shrink() {
    long bytes = bytes();
    Iterator<Map.Entry<RecordedModule, Entry>> eldest = entries.entrySet().iterator();
    while (bytes > mostBytes || entries.size() > MOST_MODULES) {
      Map.Entry<RecordedModule, Entry> entry = eldest.next();
      if (!eldest.hasNext()) {
        return;
      }
      bytes -= entry.getValue().bytes();
      if (entries.size() > MOST_MODULES) {
        eldest.remove();
      } else {
        Entry old = entry.getValue();
        entry.setValue(new Entry(old.library(), old.named(), new SoftReference<>(null), 0));
      }
    }
  }

  private Entry read(RecordedModule module) {
    Optional<String> file = images.file(module);
    // An executable may be known by the file only.
    String path = module.path().isEmpty() ? file.orElse("") : module.path();
    Optional<Bytes> memory = images.memory();
    try {
      Optional<ElfImage> mapped = memory.flatMap(bytes -> ElfImage.ofMemory(bytes, module));
      return file.flatMap(name -> read(module, name, path, mapped))
          .or(() -> images.mappedFile(module).flatMap(name -> read(module, name, path, mapped)))
          .or(() -> mapped.map(image -> entry(image, path)))
          .orElseGet(() -> unread(path));
    } finally {
      memory.ifPresent(ModuleSymbols::close);
    }
  }

  private Optional<Entry> read(
      RecordedModule module, String file, String path, Optional<ElfImage> mapped) {
    Optional<Bytes> opened = images.open(file);
    try {
      return opened
          .flatMap(ElfImage::ofFile)
          .filter(image -> isOf(module, image, mapped))
          .map(image -> entry(image, path))
          .filter(entry -> entry.table().get() != EMPTY);
    } finally {
      opened.ifPresent(ModuleSymbols::close);
    }
  }

  private static boolean isOf(RecordedModule module, ElfImage file, Optional<ElfImage> mapped) {
    return module.buildId().isEmpty()
        ? mapped.filter(file::hasHeadersOf).isPresent() && file.buildId().isEmpty()
        : file.buildId().equals(module.buildId());
  }

  private static Entry entry(ElfImage image, String path) {
    SymbolTable.Builder builder = new SymbolTable.Builder(MOST_NAMES_BYTES);
    image.addFunctionsTo(builder);
    SymbolTable built = builder.build();
    SymbolTable table = built.size() == 0 ? EMPTY : built;
    Optional<String> soname = image.soname();
    return new Entry(
        LibraryName.of(soname, path),
        soname.isPresent(),
        new SoftReference<>(table),
        table.bytes());
  }

  private static Entry unread(String path) {
    return new Entry(
        LibraryName.of(Optional.empty(), path), false, new SoftReference<>(EMPTY), EMPTY.bytes());
  }

  private static void close(Bytes bytes) {
    try {
      bytes.close();
    } catch (IOException e) {
      // Nothing was written to it.
    }
  }
}
