import java.io.InputStream;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.zip.Deflater;
import sun.misc.Unsafe;

/** Programs whose memory grows in one known way. */
@SuppressWarnings({"deprecation", "removal"})
final class Growing {
  private static final int MIB = 1 << 20;
  private static final int PAGE = 4096;
  private static final Unsafe UNSAFE = unsafe();

  private static final List<Object> KEPT = new ArrayList<>();

  private Growing() {}

  private static Unsafe unsafe() {
    try {
      Field field = Unsafe.class.getDeclaredField("theUnsafe");
      field.setAccessible(true);
      return (Unsafe) field.get(null);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  /** Starts five threads a second that never end. */
  static void threads() throws InterruptedException {
    CountDownLatch never = new CountDownLatch(1);
    while (true) {
      RepairTask.execute(never);
      Thread.sleep(200);
    }
  }

  /** A task that waits for an event that never comes. */
  static final class RepairTask {
    static void execute(CountDownLatch event) {
      Thread thread = new Thread(() -> await(event));
      thread.setDaemon(true);
      thread.start();
    }

    private static void await(CountDownLatch event) {
      try {
        event.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** On 32 threads takes small objects, each time a few more, and frees all of them, every 15 s. */
  static void bursts() throws InterruptedException {
    CyclicBarrier together = new CyclicBarrier(32);
    for (int i = 0; i < 32; i++) {
      Thread thread = new Thread(() -> burst(together));
      thread.setDaemon(true);
      thread.start();
    }
    Thread.currentThread().join();
  }

  private static void burst(CyclicBarrier together) {
    try {
      for (int round = 1; ; round++) {
        together.await();
        long[] objects = new long[2_000 * round];
        for (int i = 0; i < objects.length; i++) {
          objects[i] = UNSAFE.allocateMemory(80);
          UNSAFE.putLong(objects[i], i);
        }
        for (long object : objects) {
          UNSAFE.freeMemory(object);
        }
        Thread.sleep(15_000);
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** Appends 100 KiB a second to a buffer that is doubled by realloc. */
  static void realloc() throws InterruptedException {
    long capacity = 256 << 10;
    long address = UNSAFE.allocateMemory(capacity);
    long size = 0;
    while (true) {
      for (int i = 0; i < 25; i++, size += PAGE) {
        if (size + PAGE > capacity) {
          capacity *= 2;
          address = UNSAFE.reallocateMemory(address, capacity);
        }
        UNSAFE.setMemory(address + size, PAGE, (byte) i);
      }
      Thread.sleep(1_000);
    }
  }

  /** Keeps a Deflater of about 260 KiB 2.4 times a second, and loses 11 KiB ten times a second. */
  static void twoLeaks() throws InterruptedException {
    for (int tick = 0; ; tick++) {
      Records.read();
      if (tick % 4 == 0) {
        Archive.pack();
      }
      Thread.sleep(100);
    }
  }

  /** Packs and never ends the packer. */
  static final class Archive {
    static void pack() {
      Deflater deflater = new Deflater();
      deflater.setInput(new byte[100]);
      deflater.finish();
      deflater.deflate(new byte[200]);
      KEPT.add(deflater);
    }
  }

  /** Reads a record and loses its memory. */
  static final class Records {
    static void read() {
      long record = UNSAFE.allocateMemory(11 << 10);
      UNSAFE.setMemory(record, 11 << 10, (byte) 1);
    }
  }

  /** Maps a file and reads 30 MiB more of it each minute. */
  static void readOnlyMapping(Path file) throws Exception {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer buffer = ByteBuffer.allocateDirect(MIB);
      for (int i = 0; i < 400; i++) {
        buffer.clear();
        channel.write(buffer, (long) i * MIB);
      }
      MappedByteBuffer mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, 400L * MIB);
      int sum = 0;
      for (int at = 0; ; at = (at + PAGE) % mapped.capacity()) {
        sum += mapped.get(at);
        if (at / PAGE % 64 == 0) {
          Thread.sleep(500);
        }
        if (sum == Integer.MIN_VALUE) {
          System.out.println(sum);
        }
      }
    }
  }

  /** Defines a class by a loader of its own ten times a second and keeps an instance and 10 KiB. */
  static void classes() throws Exception {
    byte[] code;
    try (InputStream in = Growing.class.getResourceAsStream("Growing$Script.class")) {
      code = in.readAllBytes();
    }
    while (true) {
      KEPT.add(new Loader().define(code).getDeclaredConstructor().newInstance());
      Thread.sleep(100);
    }
  }

  private static final class Loader extends ClassLoader {
    Class<?> define(byte[] code) {
      return defineClass(null, code, 0, code.length);
    }
  }

  /** A script that was compiled. */
  public static final class Script {
    final byte[] result = new byte[10 << 10];
  }
}
