package io.mallometer.preload;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.Deflater;

/**
 * Native allocations of known count and size, in each way that Java programs use.
 *
 * <p>An allocation has 3 MiB. A small JVM seldom requests so much, so the size class contains
 * hardly any other allocation.
 */
public final class NativeWork implements AutoCloseable {

  static final int BYTES = 3 << 20;

  /** The class of requests above 2 MiB and up to 4 MiB. */
  static final int SIZE_CLASS = 18;

  static final int UNSAFE = 20;
  static final int BUFFERS = 7;
  static final int JNA = 5;
  static final int ALLOCATIONS = UNSAFE + BUFFERS + JNA;

  /** The least bytes that zlib allocates for one compressor at its default settings. */
  static final long DEFLATER_BYTES = 250_000;

  static final MethodHandle ALLOCATE = unsafe("allocateMemory");

  static final MethodHandle FREE = unsafe("freeMemory");

  private final List<Long> addresses = new ArrayList<>();
  private final List<ByteBuffer> buffers = new ArrayList<>();
  private final List<Memory> memories = new ArrayList<>();

  void allocate() {
    for (int i = 0; i < UNSAFE; i++) {
      addresses.add(allocateMemory(BYTES));
    }
    for (int i = 0; i < BUFFERS; i++) {
      buffers.add(ByteBuffer.allocateDirect(BYTES));
    }
    for (int i = 0; i < JNA; i++) {
      memories.add(new Memory(BYTES));
    }
  }

  /** Frees the objects of Unsafe and JNA; direct buffers wait for the garbage collector. */
  void free() {
    addresses.forEach(NativeWork::freeMemory);
    addresses.clear();
    memories.forEach(Memory::close);
    memories.clear();
  }

  @Override
  public void close() {
    free();
  }

  static List<Deflater> deflaters(int count) {
    List<Deflater> deflaters = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      deflaters.add(new Deflater());
    }
    return deflaters;
  }

  /** Allocates through {@code sun.misc.Unsafe}, without the compiler's warning. */
  public static long allocateMemory(long bytes) {
    try {
      return (long) ALLOCATE.invokeExact(bytes);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  public static void freeMemory(long address) {
    try {
      FREE.invokeExact(address);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  /** Writes to all of an object, so that its pages are resident. */
  public static void fill(long address, long bytes) {
    new Pointer(address).setMemory(0, bytes, (byte) 1);
  }

  private static MethodHandle unsafe(String method) {
    try {
      Class<?> type = Class.forName("sun.misc.Unsafe");
      Field instance = type.getDeclaredField("theUnsafe");
      instance.setAccessible(true);
      return MethodHandles.lookup()
          .unreflect(type.getMethod(method, long.class))
          .bindTo(instance.get(null));
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }
}
