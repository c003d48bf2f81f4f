import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import jdk.crac.Core;

/**
 * Usage: {@code Burst KIND REST_SECONDS BURST_SECONDS BYTES FILE COLLECTIONS}. Waits for input,
 * sleeps for REST_SECONDS, and then allocates until the kernel kills the program. KIND names the
 * way to allocate, and the rate is BYTES per BURST_SECONDS. FILE receives the number of allocated
 * bytes; the file is mapped, so that the number survives the kill. If COLLECTIONS is true, another
 * thread makes garbage, so that the JVM collects.
 */
final class Burst {

  private Burst() {}

  public static void main(String[] arguments) throws Exception {
    Pack.prepare();
    LongBuffer truth;
    try (FileChannel file =
        FileChannel.open(
            Path.of(arguments[4]),
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      truth = file.map(FileChannel.MapMode.READ_WRITE, 0, 4096).asLongBuffer();
    }
    if (Boolean.parseBoolean(arguments[5])) {
      Thread garbage = new Thread(Burst::makeGarbage, "garbage");
      garbage.setDaemon(true);
      garbage.start();
    }
    rest(arguments[1]);
    double bytesPerNano = Double.parseDouble(arguments[3]) / (Double.parseDouble(arguments[2]) * 1e9);
    Thread burst = new Thread(() -> run(arguments[0], bytesPerNano, truth), "http-8");
    burst.start();
    burst.join();
  }

  static void rest(String seconds) throws IOException, InterruptedException {
    System.in.read();
    Thread.sleep((long) (Double.parseDouble(seconds) * 1000));
  }

  /** Fills the young generation some ten times a second. */
  private static void makeGarbage() {
    byte[][] latest = new byte[50][];
    for (int i = 0; true; i++) {
      latest[i % latest.length] = new byte[20_000];
      if (i % latest.length == 0) {
        LockSupport.parkNanos(10_000_000);
      }
    }
  }

  private static void run(String kind, double bytesPerNano, LongBuffer truth) {
    long begin = System.nanoTime();
    long bytes = 0;
    while (true) {
      bytes +=
          switch (kind) {
            case "unsafe" -> Buffers.grab(65536);
            case "direct" -> Channels.open(65536);
            case "jni" -> Frames.load(65536);
            default -> ReportReader.read();
          };
      truth.put(0, bytes);
      long early = (long) (bytes / bytesPerNano) - (System.nanoTime() - begin);
      if (early > 1_000_000) {
        LockSupport.parkNanos(early);
      }
    }
  }
}

final class Buffers {

  private static final sun.misc.Unsafe UNSAFE = unsafe();

  private Buffers() {}

  static int grab(int bytes) {
    UNSAFE.setMemory(UNSAFE.allocateMemory(bytes), bytes, (byte) 1);
    return bytes;
  }

  static void write(long address) {
    UNSAFE.putByte(address, (byte) 1);
  }

  private static sun.misc.Unsafe unsafe() {
    try {
      Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
      field.setAccessible(true);
      return (sun.misc.Unsafe) field.get(null);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }
}

final class Frames {

  static {
    System.load(System.getProperty("frames.library"));
  }

  private Frames() {}

  static int load(int bytes) {
    decode(bytes);
    return bytes;
  }

  private static native void decode(int bytes);
}

final class Channels {

  private static final List<ByteBuffer> OPEN = new ArrayList<>();

  private Channels() {}

  static int open(int bytes) {
    OPEN.add(ByteBuffer.allocateDirect(bytes));
    return bytes;
  }
}

final class ReportReader {

  /** The bytes that zlib allocates for an inflater: its state and its window. */
  private static final int BYTES = 39_928;

  private static final List<Inflater> OPEN = new ArrayList<>();
  /** The output buffer. It is shorter than the inflated text of 60,000 bytes, so zlib allocates a window. */
  private static final byte[] INFLATED = new byte[40_000];

  private ReportReader() {}

  static int read() {
    Inflater inflater = new Inflater();
    inflater.setInput(Pack.PACKED);
    try {
      inflater.inflate(INFLATED);
    } catch (java.util.zip.DataFormatException e) {
      throw new AssertionError(e);
    }
    OPEN.add(inflater);
    return BYTES;
  }
}

final class Pack {

  static final byte[] PACKED = pack();

  private Pack() {}

  static void prepare() throws IOException {
    if (PACKED.length == 0) {
      throw new IOException("nothing was packed");
    }
  }

  private static byte[] pack() {
    Deflater deflater = new Deflater();
    deflater.setInput(new byte[60_000]);
    deflater.finish();
    byte[] packed = new byte[70_000];
    int length = deflater.deflate(packed);
    deflater.end();
    return Arrays.copyOf(packed, length);
  }
}

/**
 * Usage: {@code Ends HOW REST_SECONDS MESSAGE}. MESSAGE is the file of mallometer's termination
 * message, which states how full the memory is. The program waits for input, sleeps for
 * REST_SECONDS, allocates until the message reports 85 % of the memory limit, and then ends in the
 * way that HOW names. With {@code child} it does not allocate. With an unknown HOW it sleeps for 60
 * s. The caller checks afterwards whether mallometer has emptied the file.
 */
final class Ends {

  private static final int FULL = 85;
  private static final Pattern SHARE = Pattern.compile(": (\\d+) % of the limit");

  private Ends() {}

  public static void main(String[] arguments) throws Exception {
    Burst.rest(arguments[1]);
    if (arguments[0].equals("child")) {
      child();
    }
    fill(Path.of(arguments[2]));
    System.out.println("full");
    switch (arguments[0]) {
      case "return" -> System.out.println("main ends");
      case "exit3" -> System.exit(3);
      case "crash" -> Buffers.write(8);
      case "checkpoint" -> {
        Core.getGlobalContext().beforeCheckpoint(Core.getGlobalContext());
        System.out.println("prepared");
        Thread.sleep(60_000);
      }
      default -> Thread.sleep(60_000);
    }
  }

  /** Starts a child process, waits until the kernel has killed it because it exceeds the memory limit, and exits. */
  private static void child() throws IOException, InterruptedException {
    new ProcessBuilder("sh", "-c", "x=0123456789abcdef; while :; do x=$x$x; done").start().waitFor();
    Thread.sleep(2_000);
    System.exit(0);
  }

  /** Fills the memory slowly once there is a message, which may be late by a second on a busy machine. */
  private static void fill(Path message) throws IOException {
    for (int share = 0; share < FULL; share = share(message)) {
      for (int i = 0; i < 8; i++) {
        Buffers.grab(65536);
      }
      LockSupport.parkNanos(share == 0 ? 10_000_000 : 25_000_000);
    }
  }

  private static int share(Path message) throws IOException {
    Matcher said = SHARE.matcher(Files.readString(message));
    return said.find() ? Integer.parseInt(said.group(1)) : 0;
  }
}
