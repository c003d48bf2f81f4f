package io.mallometer.internal.process;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.lang.management.ManagementFactory;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * Maps memory next to memory of malloc or of the JVM, so that the kernel shows both as one mapping.
 * Threads and libraries sometimes cause this by chance.
 */
final class Neighbours {

  private static final long BYTES = 64 << 10;
  private static final int READ_WRITE = 3;
  private static final int PRIVATE_ANONYMOUS = 0x22;
  private static final int FIXED_NOREPLACE = 0x100000;

  private static final Pattern NODE = Pattern.compile("node #\\d+: base 0x([0-9a-f]+)");

  private Neighbours() {}

  static void below(long object) {
    map(object / AddressSpace.PAGE * AddressSpace.PAGE - BYTES);
  }

  static void besideMetaspace() {
    Matcher node = NODE.matcher(metaspace());
    while (node.find()) {
      map(Long.parseLong(node.group(1), 16) - BYTES);
    }
  }

  private static String metaspace() {
    try {
      return String.valueOf(
          ManagementFactory.getPlatformMBeanServer()
              .invoke(
                  new ObjectName("com.sun.management:type=DiagnosticCommand"),
                  "vmMetaspace",
                  new Object[] {new String[] {"vslist"}},
                  new String[] {String[].class.getName()}));
    } catch (JMException e) {
      throw new AssertionError(e);
    }
  }

  /** Maps and writes memory, like a library that does not use malloc. Returns its address. */
  static long foreign(long bytes) {
    return map(0, bytes, PRIVATE_ANONYMOUS);
  }

  static void unmap(long address, long bytes) {
    NativeLibrary.getInstance("c")
        .getFunction("munmap")
        .invokeInt(new Object[] {new Pointer(address), bytes});
  }

  private static void map(long address) {
    map(address, BYTES, PRIVATE_ANONYMOUS | FIXED_NOREPLACE);
  }

  private static long map(long address, long bytes, int flags) {
    Function mmap = NativeLibrary.getInstance("c").getFunction("mmap");
    long mapped =
        mmap.invokeLong(new Object[] {new Pointer(address), bytes, READ_WRITE, flags, -1, 0L});
    if (mapped > 0) {
      new Pointer(mapped).setMemory(0, bytes, (byte) 1);
    }
    return mapped;
  }
}
