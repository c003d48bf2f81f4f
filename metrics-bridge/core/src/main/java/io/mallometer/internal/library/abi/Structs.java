package io.mallometer.internal.library.abi;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Memory that the library fills. If this class is never unloaded, {@link #keep} uses malloc instead
 * of direct buffers of the JDK. Direct buffers that are never freed change the order in which the
 * garbage collector finds the application's buffers. With 30,000 buffers of an application, glibc
 * then took 1.5 times as long to free them and to allocate new ones.
 */
final class Structs {

  private static final boolean LOADED_FOR_GOOD = isForGood(Structs.class.getClassLoader());

  private Structs() {}

  /**
   * Calls a function with zeroed memory, and frees the memory afterwards. Does not use a direct
   * buffer of the JDK: once the application has used up its direct memory, each further buffer
   * makes the JVM run full collections.
   */
  static <T> T with(int bytes, Function<ByteBuffer, T> use) {
    ByteBuffer memory = mallocked(Math.max(1, bytes));
    try {
      return use.apply(memory);
    } finally {
      release(memory);
    }
  }

  /** Returns zeroed memory that the collector frees. JNA's Memory would start a thread for that. */
  static ByteBuffer allocate(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
  }

  /** Returns zeroed memory that stays valid as long as the class loader lives. */
  static ByteBuffer keep(int bytes) {
    return LOADED_FOR_GOOD ? mallocked(bytes) : allocate(bytes);
  }

  /** Frees memory of {@link #keep}, which must not be used afterwards, and returns new memory. */
  static ByteBuffer keepInstead(ByteBuffer kept, int bytes) {
    ByteBuffer instead = keep(bytes);
    free(kept);
    return instead;
  }

  static void free(ByteBuffer kept) {
    if (LOADED_FOR_GOOD) {
      release(kept);
    }
  }

  private static void release(ByteBuffer mallocked) {
    if (DirectCalls.linked()) {
      DirectCalls.free(mallocked);
    } else {
      Native.free(address(mallocked));
    }
  }

  private static ByteBuffer mallocked(int bytes) {
    if (DirectCalls.linked()) {
      @Nullable ByteBuffer allocated = DirectCalls.allocate(bytes);
      if (allocated == null) {
        throw new OutOfMemoryError("malloc");
      }
      return allocated.order(ByteOrder.nativeOrder());
    }
    long address = Native.malloc(Math.max(1, bytes));
    if (address == 0) {
      throw new OutOfMemoryError("malloc");
    }
    Pointer memory = new Pointer(address);
    memory.clear(bytes);
    return memory.getByteBuffer(0, bytes).order(ByteOrder.nativeOrder());
  }

  static String text(ByteBuffer memory, int offset, int length) {
    byte[] bytes = new byte[length];
    memory.get(offset, bytes);
    // Does not loop over the bytes: the JVM would compile the loop after a few thousand names,
    // which costs CPU time.
    String text = new String(bytes, StandardCharsets.UTF_8);
    int end = text.indexOf(0);
    return end < 0 ? text : text.substring(0, end);
  }

  static long address(ByteBuffer direct) {
    return DirectCalls.linked()
        ? DirectCalls.address(direct)
        : Pointer.nativeValue(Native.getDirectBufferPointer(direct));
  }

  /**
   * Returns whether a class loader lives as long as the JVM, so that nothing has to be freed. Such
   * loaders are those of the JVM, the class path, the agent and a Spring Boot jar. The loader of a
   * web application is not.
   */
  private static boolean isForGood(@Nullable ClassLoader loader) {
    return loader == null
        || loader == ClassLoader.getSystemClassLoader()
        || "mallometer-agent".equals(loader.getName())
        || loader.getClass().getName().startsWith("org.springframework.boot.loader.");
  }
}
