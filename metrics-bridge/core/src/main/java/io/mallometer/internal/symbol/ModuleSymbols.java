package io.mallometer.internal.symbol;

import java.lang.ref.SoftReference;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

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
    return entry == null ? load(module, null).library() : entry.library();
  }

  /** The function in which an address of a module lies. */
  Optional<SymbolTable.Symbol> symbol(RecordedModule module, long address) {
    Entry entry = entries.get(module);
    SymbolTable table = entry == null ? null : entry.table().get();
    if (table == null) {
      table = load(module, entry).table().get();
    }
    return table == null ? Optional.empty() : table.at(address - module.bias());
  }

  /** What the tables take of the heap, about. */
  long bytes() {
    return entries.values().stream().mapToLong(Entry::bytes).sum();
  }

  private Entry load(RecordedModule module, @Nullable Entry previous) {
    Entry read = read(module);
    // A library that has been unloaded since keeps the name that it gave itself.
    Entry entry =
        previous == null || !previous.named() || read.named()
            ? read
            : new Entry(previous.library(), true, read.table(), read.bytes());
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
      ElfImage mapped =
          memory.isPresent() ? ElfImage.ofMemory(memory.get(), module).orElse(null) : null;
      return read(module, file, path, mapped);
    } finally {
      memory.ifPresent(Bytes::close);
    }
  }

  private Entry read(
      RecordedModule module, Optional<String> file, String path, @Nullable ElfImage mapped) {
    Entry read = ofFile(module, file, path, mapped);
    if (read == null) {
      read = ofFile(module, images.mappedFile(module), path, mapped);
    }
    if (read == null) {
      read = mapped == null ? unread(path) : entry(mapped, path);
    }
    return read;
  }

  /** Null if there is no such file, it is not what is mapped, or it has no functions. */
  private @Nullable Entry ofFile(
      RecordedModule module, Optional<String> file, String path, @Nullable ElfImage mapped) {
    Optional<Bytes> opened = file.isPresent() ? images.open(file.get()) : Optional.empty();
    if (opened.isEmpty()) {
      return null;
    }
    try {
      Optional<ElfImage> image = ElfImage.ofFile(opened.get());
      if (image.isEmpty() || !isOf(module, image.get(), mapped)) {
        return null;
      }
      Entry entry = entry(image.get(), path);
      return entry.table().get() == EMPTY ? null : entry;
    } finally {
      opened.ifPresent(Bytes::close);
    }
  }

  private static boolean isOf(RecordedModule module, ElfImage file, @Nullable ElfImage mapped) {
    return module.buildId().isEmpty()
        ? mapped != null && file.hasHeadersOf(mapped) && file.buildId().isEmpty()
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
}
