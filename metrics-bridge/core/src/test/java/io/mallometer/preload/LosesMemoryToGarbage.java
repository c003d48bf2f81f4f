package io.mallometer.preload;

import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.library.load.ProcessLibrary;
import io.mallometer.internal.process.GarbageCollections;
import java.time.Duration;
import java.util.List;

/**
 * Leaves the addresses of some objects in garbage, waits until the garbage is collected, and
 * allocates hardly anything afterwards. Prints the number of objects whose addresses the searches
 * did not find.
 */
public final class LosesMemoryToGarbage {

  private static final int OBJECTS = 100;
  private static final int BYTES = 300_000;
  private static final long MEBIBYTE = 1 << 20;
  private static final long HALF_OF_EDEN = 100 * MEBIBYTE;

  private static volatile long[] garbage = {};

  private LosesMemoryToGarbage() {}

  public static void main(String[] arguments) throws Throwable {
    NativeLibrary library = new ProcessLibrary();
    library.nameMethods(); // stacks have Java frames from here on
    library.observeUse(Duration.ofMillis(200));
    System.gc();
    allocate(HALF_OF_EDEN); // moves later allocations far from the garbage
    for (int i = 0; i < OBJECTS; i++) {
      leave();
    }
    long collections = GarbageCollections.ofThisJvm().all();
    while (GarbageCollections.ofThisJvm().all() == collections) {
      allocate(MEBIBYTE);
    }
    LosesMemory.printLost(library, List.of("leave"));
    System.out.println("end " + garbage.length);
  }

  private static void allocate(long bytes) {
    for (long allocated = 0; allocated < bytes; allocated += 10_000) {
      garbage = new long[1_250];
    }
  }

  private static void leave() throws Throwable {
    garbage = new long[] {(long) NativeWork.ALLOCATE.invokeExact((long) BYTES)};
  }
}
