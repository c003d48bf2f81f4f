package io.mallometer.benchmarks.leaks;

import com.github.luben.zstd.ZstdCompressCtx;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import java.util.zip.Deflater;

/**
 * Runs {@linkplain Kernel kernels}, pieces of programs with and without leaks, side by side for a
 * time. Their clock can be faster than real time.
 *
 * <p>Arguments: the minutes to run by this clock, the speed of the clock as a multiple of real
 * time, and names of kernels such as {@code Leaking.Deflaters}. The name {@code Stated} runs all
 * subclasses of {@link Stated}; without names, all other kernels run. With the name {@code Stated},
 * the program keeps {@code liveMiB} of live Java objects and requests no garbage collections.
 *
 * <p>Properties:
 *
 * <ul>
 * <li>{@code verdicts}: the file for mallometer's verdicts on which call sites leak;
 * <li>{@code trace}: the file for the observations behind the verdicts;
 * <li>{@code openAfter}: how many seconds pass on the kernels' clock before both files are opened;
 * <li>{@code liveMiB}: the MiB of live Java objects (32 if not set);
 * <li>{@code threads}: the number of additional threads that wait for work.
 * </ul>
 */
public final class Kernels {

  /**
   * The time between two requests for a garbage collection. The kernels make so little garbage that without these
   * requests no collection would free dead classes and buffers.
   */
  private static final Duration COLLECTED = Duration.ofMinutes(3);

  private Kernels() {}

  public static void main(String[] arguments) throws InterruptedException {
    Duration duration = Duration.ofMillis((long) (60_000 * Double.parseDouble(arguments[0])));
    double scale = Double.parseDouble(arguments[1]);
    Pace pace = new Pace(scale);
    List<String> names = Arrays.asList(arguments).subList(2, arguments.length);
    boolean stated = names.contains("Stated");
    List<Stated> stating = new CopyOnWriteArrayList<>();
    String verdicts = System.getProperty("verdicts");
    String trace = System.getProperty("trace");
    addWaitingThreads(Integer.getInteger("threads", 0));
    if (stated) {
      new KernelThread("live objects", LiveObjects::new, pace).start();
      startStated(stating, pace);
    }
    all()
        .forEach(
            (name, maker) -> {
              if (names.isEmpty() || names.contains(name)) {
                new KernelThread(name, maker, pace).start();
              }
            });
    new KernelThread("requests", Requests::new, pace).start();
    pace.until(Duration.ofSeconds(Integer.getInteger("openAfter", 0)));
    VerdictLog log =
        verdicts == null ? null : new VerdictLog(Path.of(verdicts), pace, scale, stating);
    VerdictLog.Trace recorder =
        trace == null ? null : VerdictLog.Trace.start(Path.of(trace), pace, scale);
    for (Duration next = COLLECTED;
        !stated && next.compareTo(duration) < 0;
        next = next.plus(COLLECTED)) {
      pace.until(next);
      System.gc();
    }
    pace.until(duration);
    pace.end();
    if (recorder != null) {
      recorder.join();
    }
    if (log != null) {
      log.close();
    }
  }

  private static void startStated(List<Stated> stating, Pace pace) {
    Stream.of(StatedLeaks.ALL, StatedLookAlikes.ALL)
        .flatMap(List::stream)
        .forEach(
            type ->
                new KernelThread(
                        name(type),
                        () -> {
                          Stated kernel = type.getDeclaredConstructor().newInstance();
                          stating.add(kernel);
                          return kernel;
                        },
                        pace)
                    .start());
  }

  private static void addWaitingThreads(int count) {
    if (count > 0) {
      ThreadPoolExecutor pool =
          new ThreadPoolExecutor(
              count, count, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), KernelThread::daemon);
      pool.prestartAllCoreThreads();
    }
  }

  private static Map<String, Callable<Kernel>> all() {
    Map<String, Callable<Kernel>> kernels = new LinkedHashMap<>();
    Stream.of(Leaks.Leaking.ALL, Leaks.Losing.ALL, Healthy.ALL)
        .flatMap(List::stream)
        .forEach(
            type -> kernels.put(name(type), () -> type.getDeclaredConstructor().newInstance()));
    LookAlikes.ALL.forEach(
        plan -> kernels.put("LookAlikes." + plan.name(), () -> new LookAlikes.LookAlike(plan)));
    return kernels;
  }

  static String name(Class<? extends Kernel> kernel) {
    return kernel.getEnclosingClass().getSimpleName() + "." + kernel.getSimpleName();
  }

  /** Makes garbage, like the requests to a server, so that the JVM collects. */
  private static final class Requests implements Kernel {
    private volatile byte[] latest = {};

    @Override
    public Duration period() {
      return Duration.ofMillis(20);
    }

    @Override
    public void step(Duration age) {
      for (int i = 0; i < 20; i++) {
        latest = new byte[10_000];
      }
    }
  }

  /** Replaces each of its Java objects once an hour, so that old objects are collected. */
  private static final class LiveObjects implements Kernel {
    private static final int BYTES = 10_000;

    private final byte[][] objects = new byte[Integer.getInteger("liveMiB", 32) * 105][];
    private int next;

    LiveObjects() {
      Arrays.setAll(objects, i -> new byte[BYTES]);
    }

    @Override
    public Duration period() {
      return Duration.ofMillis(50);
    }

    @Override
    public void step(Duration age) {
      for (int i = 0; i <= objects.length / 72_000; i++) {
        objects[next] = new byte[BYTES];
        next = (next + 1) % objects.length;
      }
    }
  }

  /**
   * A piece of a program that allocates native memory again and again, with a mistake or without. Each kernel is a
   * class of its own, so that its name is in the stacks of its allocations.
   */
  interface Kernel {

    /** Returns the time from the start of one step to the start of the next. */
    Duration period();

    /**
     * Does one piece of work, on the kernel's own thread.
     *
     * @param age the time since the first step, by the clock {@link Pace}
     */
    void step(Duration age) throws Throwable;
  }

  static final class KernelThread extends Thread {

    private final Callable<Kernel> maker;
    private final Pace pace;

    KernelThread(String name, Callable<Kernel> maker, Pace pace) {
      super(name);
      this.maker = maker;
      this.pace = pace;
      setDaemon(true);
    }

    static Thread daemon(Runnable work) {
      Thread thread = new Thread(work);
      thread.setDaemon(true);
      return thread;
    }

    @Override
    public void run() {
      try {
        Kernel kernel = maker.call();
        Duration begin = pace.age();
        for (long steps = 1; ; steps++) {
          kernel.step(pace.age().minus(begin));
          pace.until(begin.plus(kernel.period().multipliedBy(steps)));
        }
      } catch (Throwable e) {
        if (!pace.isOver()) {
          // Ends the JVM immediately, because the results without this kernel would be wrong.
          e.printStackTrace();
          Runtime.getRuntime().halt(3);
        }
      }
    }
  }

  /**
   * A clock that can run faster than real time, so that an hour of a program passes in minutes. The
   * kernels time their work by this clock.
   */
  static final class Pace {

    private final double scale;
    private final long start = System.nanoTime();
    private volatile boolean over;

    Pace(double scale) {
      this.scale = scale;
    }

    Duration age() {
      return Duration.ofNanos((long) ((System.nanoTime() - start) * scale));
    }

    /** Ends the run. Later failures of kernels are ignored. */
    void end() {
      over = true;
    }

    boolean isOver() {
      return over;
    }

    /** Sleeps until the run has reached this age. */
    void until(Duration age) throws InterruptedException {
      long nanos = (long) (age.minus(age()).toNanos() / scale);
      if (nanos > 0) {
        Thread.sleep(nanos / 1_000_000, (int) (nanos % 1_000_000));
      }
    }
  }

  /**
   * A kernel that states whether it leaks, how long an object may stay unused, and how many bytes
   * it has leaked so far.
   */
  abstract static class Stated implements Kernel {

    enum Truth {
      /**
       * The program uses each object at least once per {@code longestIdle} until it frees the
       * object. The amount of memory has a bound.
       */
      LOOK_ALIKE,
      /**
       * The program uses each object at least once per {@code longestIdle}. The amount of memory
       * grows without a bound.
       */
      GROWING,
      /** Java code still refers to the objects, but never uses them again and never frees them. */
      LEAK,
      /** The last pointer to the objects is lost. */
      LOST
    }

    private final Truth truth;
    private final Duration longestIdle;
    private final double bytesPerMinute;
    private final AtomicLong leaked = new AtomicLong();

    /**
     * Creates a kernel.
     *
     * @param truth whether the kernel leaks, and how it uses its memory
     * @param longestIdle the longest time for which an object stays unused, unless the object is
     *     leaked
     * @param bytesPerMinute the bytes that the kernel leaks in a minute; for a kernel without a
     *     leak, the bytes that it allocates in a minute
     */
    Stated(Truth truth, Duration longestIdle, double bytesPerMinute) {
      this.truth = truth;
      this.longestIdle = longestIdle;
      this.bytesPerMinute = bytesPerMinute;
    }

    final void leaked(long bytes) {
      leaked.addAndGet(bytes);
    }

    final String leakedNow() {
      return String.format("\"%s\":%d", Kernels.name(getClass()), leaked.get());
    }

    final String statement() {
      return String.format(
          Locale.ROOT,
          "\"%s\":{\"truth\":\"%s\",\"idleSeconds\":%d,\"bytesPerMinute\":%.0f}",
          Kernels.name(getClass()),
          truth.name().toLowerCase(Locale.ROOT),
          longestIdle.toSeconds(),
          bytesPerMinute);
    }
  }

  /**
   * Native memory that a program holds, uses and frees. Factory methods such as {@link #block} take
   * memory that the {@link Kernel} has allocated, so that the stack of the allocation contains the
   * kernel's class.
   */
  interface Held {

    void use() throws Exception;

    void free() throws Exception;

    static Held block(long address, int bytes) {
      Block block = Block.of(address, bytes).filled();
      return new Held() {
        @Override
        public void use() {
          block.read();
        }

        @Override
        public void free() {
          block.free();
        }
      };
    }

    static Held buffer(ByteBuffer buffer) {
      return new Held() {
        @Override
        public void use() {
          buffer.putInt(0, buffer.getInt(0) + 1);
        }

        @Override
        public void free() {
          // The collector frees the buffer after the caller has dropped it.
        }
      };
    }

    static Held deflater(Deflater deflater, byte[] input) {
      byte[] output = new byte[input.length];
      return new Held() {
        @Override
        public void use() {
          deflater.reset();
          deflater.setInput(input);
          deflater.finish();
          deflater.deflate(output);
        }

        @Override
        public void free() {
          deflater.end();
        }
      };
    }

    static Held zstd(byte[] input) {
      ZstdCompressCtx context = new ZstdCompressCtx().setLevel(1);
      context.compress(input);
      return new Held() {
        @Override
        public void use() {
          context.compress(input);
        }

        @Override
        public void free() {
          context.close();
        }
      };
    }

    static Held statement(Connection connection) throws SQLException {
      PreparedStatement statement =
          connection.prepareStatement("select name from entry where value > ? order by name");
      return new Held() {
        @Override
        public void use() throws SQLException {
          statement.setDouble(1, 1);
          statement.executeQuery().close();
        }

        @Override
        public void free() throws SQLException {
          statement.close();
        }
      };
    }
  }

  /** Memory of malloc, with the time until which it is needed. */
  record Block(long address, int bytes, Duration until) {

    static Block of(long address, int bytes) {
      return new Block(address, bytes, Duration.ZERO);
    }

    Block filled() {
      new Pointer(address).setMemory(0, bytes, (byte) 1);
      return this;
    }

    byte read() {
      return new Pointer(address).getByte(bytes / 2);
    }

    void free() {
      Native.free(address);
    }
  }

  static final class SharedWrapper {

    private SharedWrapper() {}

    static Block allocate(int bytes) {
      return Block.of(Native.malloc(bytes), bytes).filled();
    }
  }

  static final class Texts {

    private Texts() {}

    static byte[] compressible(int bytes) {
      Random random = new Random(3);
      StringBuilder words = new StringBuilder();
      while (words.length() < bytes) {
        words.append(Integer.toString(random.nextInt(1000), 36)).append(' ');
      }
      return words.substring(0, bytes).getBytes(StandardCharsets.US_ASCII);
    }

    static byte[] deflated(byte[] text) {
      byte[] output = new byte[2 * text.length];
      Deflater deflater = new Deflater();
      try {
        deflater.setInput(text);
        deflater.finish();
        return Arrays.copyOf(output, deflater.deflate(output));
      } finally {
        deflater.end();
      }
    }
  }
}
