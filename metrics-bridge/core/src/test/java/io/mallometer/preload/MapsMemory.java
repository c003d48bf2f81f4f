package io.mallometer.preload;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import io.mallometer.Mallometer;
import io.mallometer.model.ResidentStacks;
import io.mallometer.report.ReportFormat;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Maps and touches memory by a foreign function, and prints the resident set by the code that asked
 * for it: before, with the memory, and after it was unmapped. With an argument it attaches first,
 * and detaches at the end.
 */
final class MapsMemory {

  static final long BYTES = 120L << 20;

  private static final int READ_AND_WRITE = 3;
  private static final int PRIVATE_AND_ANONYMOUS = 0x22;

  private static ResidentStacks latest = new ResidentStacks(Instant.EPOCH, 0, List.of(), "");

  private MapsMemory() {}

  public static void main(String[] arguments) throws Exception {
    try (Mallometer mallometer = Mallometer.open()) {
      boolean attaches = arguments.length > 0;
      if (attaches) {
        System.out.println(mallometer.counting().attach());
      }
      print("before", mallometer);
      Pointer memory = mapMemory();
      memory.clear(BYTES);
      print("mapped", mallometer);
      function("munmap").invokeInt(new Object[] {memory, BYTES});
      print("unmapped", mallometer);
      if (attaches) {
        mallometer.counting().detach();
        Pointer after = mapMemory();
        after.clear(BYTES);
        System.out.println("detached and mapped " + (after.getByte(0) == 0));
      }
    }
  }

  private static Pointer mapMemory() {
    return function("mmap")
        .invokePointer(
            new Object[] {Pointer.NULL, BYTES, READ_AND_WRITE, PRIVATE_AND_ANONYMOUS, -1, 0L});
  }

  private static Function function(String name) {
    return NativeLibrary.getProcess().getFunction(name);
  }

  /** Returns the resident set as the kernel sums it up. */
  private static long apart() throws Exception {
    for (String line : Files.readAllLines(Path.of("/proc/self/smaps_rollup"))) {
      if (line.startsWith("Rss:")) {
        return 1024 * Long.parseLong(line.replaceAll("\\D", ""));
      }
    }
    throw new IllegalStateException("smaps_rollup has no Rss");
  }

  private static void print(String moment, Mallometer mallometer) throws Exception {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long begin = threads.getCurrentThreadCpuTime();
    ResidentStacks read = mallometer.sites().resident();
    while (read == latest) { // a reading is returned again for as long as its cost says
      TimeUnit.MILLISECONDS.sleep(100);
      read = mallometer.sites().resident();
    }
    latest = read;
    System.out.println("CPU time " + (threads.getCurrentThreadCpuTime() - begin) / 1000 + " us");
    long apart = apart();
    System.out.println("== " + moment + " " + read.residentBytes() + " " + read.reason());
    System.out.println("apart " + moment + " " + apart);
    ReportFormat.COLLAPSED.write(read, System.out);
    System.out.flush();
  }
}
