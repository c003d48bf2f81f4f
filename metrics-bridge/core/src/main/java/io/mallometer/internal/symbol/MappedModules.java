package io.mallometer.internal.symbol;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Finds the modules of this process in its list of mappings. This is needed with glibc before 2.35,
 * where the native library cannot record modules together with stacks. Modules that were unloaded
 * earlier are missing.
 */
public final class MappedModules {

  /**
   * The offset of the type in an ELF file. The type {@link #FIXED} marks an executable at fixed
   * addresses.
   */
  private static final int TYPE = 16;

  private static final int FIXED = 2;

  private final List<RecordedModule> modules = new ArrayList<>();
  private final Optional<Bytes> memory;
  private String file = "";
  private String path = "";
  private long begin;
  private long end;
  private boolean executable;

  private MappedModules(Optional<Bytes> memory) {
    this.memory = memory;
  }

  /**
   * Returns the mapped files that contain code.
   *
   * @param maps the content of {@code /proc/self/maps}; a line that cannot be parsed is skipped
   */
  public static List<RecordedModule> in(String maps, ModuleImages images) {
    Optional<Bytes> memory = images.memory();
    List<RecordedModule> modules = in(maps, memory);
    memory.ifPresent(Bytes::close);
    return modules;
  }

  static List<RecordedModule> in(String maps, Optional<Bytes> memory) {
    MappedModules found = new MappedModules(memory);
    for (String line : maps.split("\n")) {
      found.line(line);
    }
    found.close();
    return List.copyOf(found.modules);
  }

  /** Reads a line, such as {@code 7f01-7f02 r-xp 00001000 08:01 1234 /usr/lib/libz.so.1}. */
  private void line(String line) {
    String[] fields = line.split(" +", 6);
    int dash = fields[0].indexOf('-');
    if (fields.length < 6 || dash < 0 || !fields[5].startsWith("/")) {
      // Memory without a file does not end a module, because it may lie between two mappings of one
      // file.
      return;
    }
    try {
      long start = Long.parseUnsignedLong(fields[0].substring(0, dash), 16);
      long behind = Long.parseUnsignedLong(fields[0].substring(dash + 1), 16);
      long offset = Long.parseUnsignedLong(fields[2], 16);
      mapping(start, behind, offset, fields);
    } catch (NumberFormatException e) {
      // A line that cannot be parsed is skipped.
    }
  }

  private void mapping(long start, long behind, long offset, String[] fields) {
    String same = fields[3] + " " + fields[4] + " " + fields[5];
    if (offset == 0 || !same.equals(file)) {
      close();
      file = offset == 0 ? same : "";
      path = fields[5];
      begin = start;
      executable = false;
    }
    end = behind;
    executable |= fields[1].indexOf('x') >= 0;
  }

  private void close() {
    if (!file.isEmpty() && executable) {
      RecordedModule unidentified = new RecordedModule(begin, end, bias(), path, "");
      String buildId = buildId(unidentified);
      modules.add(new RecordedModule(begin, end, unidentified.bias(), path, buildId));
    }
    file = "";
  }

  private String buildId(RecordedModule unidentified) {
    if (memory.isEmpty()) {
      return "";
    }
    Optional<ElfImage> image = ElfImage.ofMemory(memory.get(), unidentified);
    return image.isPresent() ? image.get().buildId() : "";
  }

  private long bias() {
    byte[] type = new byte[2];
    boolean fixed =
        memory.isPresent() && memory.get().read(begin + TYPE, type, 2) && type[0] == FIXED;
    return fixed ? 0 : begin;
  }
}
