package io.mallometer.benchmarks.leaks;

import static java.lang.invoke.MethodType.methodType;

import com.github.luben.zstd.ZstdCompressCtx;
import com.sun.jna.Function;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import io.mallometer.benchmarks.leaks.Kernels.Block;
import io.mallometer.benchmarks.leaks.Kernels.KernelThread;
import io.mallometer.benchmarks.leaks.Kernels.Stated;
import io.mallometer.benchmarks.leaks.Kernels.Texts;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * Kernels (pieces of programs) that leak and count their leaked bytes: eight lose the last pointer to memory, ten hold
 * memory that they never use again.
 */
final class StatedLeaks {

  static final List<Class<? extends Stated>> ALL =
      List.of(
          FastJnaBlocks.class,
          SteadyJnaBlocks.class,
          Handles.class,
          HoldersThatDieOld.class,
          FailedRequests.class,
          GrownAndReplaced.class,
          ThreadLocals.class,
          LoggedStrings.class,
          SmallAndSlow.class,
          LargeAndRare.class,
          OneDeflaterInMany.class,
          PartRead.class,
          KeysWithoutEquals.class,
          Listeners.class,
          WithPauses.class,
          Bursts.class,
          BuffersInQueue.class,
          OpenExports.class);

  private static final byte[] PAGE = Texts.compressible(8192);
  private static final int KIB = 1024;
  private static final int MIB = 1024 * KIB;

  private StatedLeaks() {}

  /**
   * A piece of code that loses the last pointer to a part of its memory, and frees the rest immediately.
   */
  private abstract static class Lost extends Stated {
    Lost(double bytesPerMinute) {
      super(Truth.LOST, Duration.ZERO, bytesPerMinute);
    }
  }

  private abstract static class Kept extends Stated {
    Kept(double bytesPerMinute) {
      super(Truth.LEAK, Duration.ZERO, bytesPerMinute);
    }

    Kept(Duration longestIdle, double bytesPerMinute) {
      super(Truth.LEAK, longestIdle, bytesPerMinute);
    }
  }

  // ---- Leaks of memory to which no pointer is left

  /** Leaks 1 MiB a second for four minutes, from the second minute on. */
  static final class FastJnaBlocks extends Lost {
    private static final int BYTES = 10 * KIB;

    FastJnaBlocks() {
      super(60.0 * MIB);
    }

    @Override
    public Duration period() {
      return Duration.ofMillis(500);
    }

    @Override
    public void step(Duration age) {
      if (age.toMinutes() >= 1 && age.toMinutes() < 5) {
        for (int i = 0; i < 51; i++) {
          Block.of(Native.malloc(BYTES), BYTES).filled();
          leaked(BYTES);
        }
      }
    }
  }

  /** Leaks 100 KiB a second for half an hour. */
  static final class SteadyJnaBlocks extends Lost {
    private static final int BYTES = 4 * KIB;

    SteadyJnaBlocks() {
      super(6000.0 * KIB);
    }

    @Override
    public Duration period() {
      return Duration.ofMillis(40);
    }

    @Override
    public void step(Duration age) {
      if (age.toMinutes() < 30) {
        Block.of(Native.malloc(BYTES), BYTES).filled();
        leaked(BYTES);
      }
    }
  }

  /** Leaks 200 handles of 48 bytes a second. */
  static final class Handles extends Lost {
    private static final int BYTES = 48;

    Handles() {
      super(60.0 * 200 * BYTES);
    }

    @Override
    public Duration period() {
      return Duration.ofMillis(250);
    }

    @Override
    public void step(Duration age) {
      for (int i = 0; i < 50; i++) {
        Block.of(Native.malloc(BYTES), BYTES).filled();
        leaked(BYTES);
      }
    }
  }

  /** Keeps wrappers in a cache for two minutes, and drops them without freeing their memory. */
  static final class HoldersThatDieOld extends Lost {
    private static final int BYTES = 12 * KIB;

    private final ArrayDeque<Block> held = new ArrayDeque<>();
    private final MethodHandle allocate = allocateMemory();

    HoldersThatDieOld() {
      super(60.0 * BYTES);
    }

    @Override
    public Duration period() {
      return Duration.ofSeconds(1);
    }

    @Override
    public void step(Duration age) throws Throwable {
      held.add(Block.of((long) allocate.invoke((long) BYTES), BYTES).filled());
      held.getLast().read();
      if (held.size() > 120) {
        held.remove();
        leaked(BYTES);
      }
    }

    private static MethodHandle allocateMemory() {
      try {
        Class<?> unsafe = Class.forName("sun.misc.Unsafe");
        Field field = unsafe.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        return MethodHandles.lookup()
            .findVirtual(unsafe, "allocateMemory", methodType(long.class, long.class))
            .bindTo(field.get(null));
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /** Fails once in 40 requests, and does not free the memory of a failed request. */
  static final class FailedRequests extends Lost {
    private static final int BYTES = 8 * KIB;

    private int requests;

    FailedRequests() {
      super(60.0 * BYTES / 2);
    }

    @Override
    public Duration period() {
      return Duration.ofMillis(50);
    }

    @Override
    public void step(Duration age) {
      Block block = Block.of(Native.malloc(BYTES), BYTES).filled();
      try {
        if (++requests % 40 == 0) {
          throw new IllegalStateException("no answer");
        }
        block.free();
      } catch (IllegalStateException expected) {
        leaked(BYTES);
      }
    }
  }

  /** Enlarges a buffer by realloc up to 16 KiB, then begins a new buffer without freeing the old one. */
  static final class GrownAndReplaced extends Lost {
    private static final int MOST = 16 * KIB;

    private final Function realloc = Function.getFunction("c", "realloc");

    GrownAndReplaced() {
      super(30.0 * MOST);
    }

    @Override
    public Duration period() {
      return Duration.ofSeconds(2);
    }

    @Override
    public void step(Duration age) {
      Pointer buffer = null;
      for (long bytes = KIB; bytes <= MOST; bytes *= 2) {
        buffer = realloc.invokePointer(new Object[] {buffer, bytes});
        buffer.setMemory(0, bytes, (byte) 1);
      }
      leaked(MOST);
    }
  }

  /**
   * Starts threads that allocate a buffer in a ThreadLocal, read the buffer once, and end without
   * freeing it.
   */
  static final class ThreadLocals extends Lost {
    private static final int BYTES = 12 * KIB;

    private final ThreadLocal<Block> buffers =
        ThreadLocal.withInitial(() -> Block.of(Native.malloc(BYTES), BYTES).filled());

    ThreadLocals() {
      super(30.0 * BYTES);
    }

    @Override
    public Duration period() {
      return Duration.ofSeconds(2);
    }

    @Override
    public void step(Duration age) throws InterruptedException {
      Thread worker = KernelThread.daemon(() -> buffers.get().read());
      worker.start();
      worker.join();
      leaked(BYTES);
    }
  }

  /** Calls a C function that copies strings for its caller, and does not free the copies. */
  static final class LoggedStrings extends Lost {
    private static final int BYTES = 2 * KIB;

    private final Function strdup = Function.getFunction("c", "strdup");
    private final String text = new String(PAGE, 0, BYTES - 1, StandardCharsets.US_ASCII);

    LoggedStrings() {
      super(120.0 * BYTES);
    }

    @Override
    public Duration period() {
      return Duration.ofMillis(500);
    }

    @Override
    public void step(Duration age) {
      strdup.invokePointer(new Object[] {text});
      leaked(BYTES);
    }
  }

  // ---- Leaks of memory that is still referenced but never used again

  /** Leaks 200 KiB a minute. */
  static final class SmallAndSlow extends Kept {
    private static final int BYTES = 20 * KIB;

    private final List<Block> kept = new ArrayList<>();

    SmallAndSlow() {
      super(10.0 * BYTES);
    }

    @Override
    public Duration period() {
      return Duration.ofSeconds(6);
    }

    @Override
    public void step(Duration age) {
      kept.add(Block.of(Native.malloc(BYTES), BYTES).filled());
      leaked(BYTES);
    }
  }

  /** Leaks 1 MiB every three minutes. */
  static final class LargeAndRare extends Kept {
    private final List<Block> kept = new ArrayList<>();

    LargeAndRare() {
      super(MIB / 3.0);
    }

    @Override
    public Duration period() {
      return Duration.ofMinutes(3);
    }

    @Override
    public void step(Duration age) {
      kept.add(Block.of(Native.malloc(MIB), MIB).filled());
      leaked(MIB);
    }
  }

  /**
   * Compresses requests in five ways, and does not end the compressor in one of about 500 requests.
   */
  static final class OneDeflaterInMany extends Kept {
    /** The bytes that zlib allocates for a compressor of the default level. */
    private static final int BYTES = 268_000;

    private final List<Deflater> kept = new ArrayList<>();
    private final byte[] output = new byte[PAGE.length];
    private int requests;

    OneDeflaterInMany() {
      super(60.0 / 25 * BYTES);
    }

    @Override
    public Duration period() {
      return Duration.ofMillis(50);
    }

    @Override
    public void step(Duration age) {
      Deflater deflater =
          switch (requests % 5) {
            case 0 -> forPage();
            case 1 -> forImage();
            case 2 -> forDownload();
            case 3 -> forReport();
            default -> forMessage();
          };
      deflater.setInput(PAGE, 0, 512);
      deflater.finish();
      deflater.deflate(output);
      // 501 divided by 5 leaves a remainder of 1, so each of the five ways leaks in turn.
      if (++requests % 501 == 0) {
        kept.add(deflater);
        leaked(BYTES);
      } else {
        deflater.end();
      }
    }

    private static Deflater forPage() {
      return new Deflater();
    }

    private static Deflater forImage() {
      return new Deflater();
    }

    private static Deflater forDownload() {
      return new Deflater();
    }

    private static Deflater forReport() {
      return new Deflater();
    }

    private static Deflater forMessage() {
      return new Deflater();
    }
  }

  /** Reads a tenth of the objects every ten seconds; the others are never read. */
  static final class PartRead extends Kept {
    private static final int BYTES = 16 * KIB;

    private final List<Block> kept = new ArrayList<>();

    PartRead() {
      super(Duration.ofSeconds(11), 54.0 * BYTES);
    }

    @Override
    public Duration period() {
      return Duration.ofSeconds(1);
    }

    @Override
    public void step(Duration age) {
      kept.add(Block.of(Native.malloc(BYTES), BYTES).filled());
      if (kept.size() % 10 != 1) {
        leaked(BYTES);
      }
      if (kept.size() % 10 == 0) {
        for (int i = 0; i < kept.size(); i += 10) {
          kept.get(i).read();
        }
      }
    }
  }

  /**
   * Keeps entries in a map whose keys do not define equality, so that no entry is ever found again.
   */
  static final class KeysWithoutEquals extends Kept {
    private static final int BYTES = 4 * KIB;

    private final Map<Key, Block> byKey = new HashMap<>();

    KeysWithoutEquals() {
      super(60.0 * BYTES);
    }

    @Override
    public Duration period() {
      return Duration.ofSeconds(1);
    }

    @Override
    public void step(Duration age) {
      byKey.computeIfAbsent(
          new Key(age.toSeconds() % 10),
          key -> {
            leaked(BYTES);
            return Block.of(Native.malloc(BYTES), BYTES).filled();
          });
    }

    private static final class Key {
      private final long number;

      Key(long number) {
        this.number = number;
      }

      @Override
      public String toString() {
        return "entry " + number;
      }
    }
  }

  /** Keeps listeners and calls them at each step. Only a listener's first call reads its buffer. */
  static final class Listeners extends Kept {
    private static final int BYTES = 8 * KIB;

    private final List<Listener> listeners = new ArrayList<>();

    Listeners() {
      super(30.0 * BYTES);
    }

    @Override
    public Duration period() {
      return Duration.ofSeconds(2);
    }

    @Override
    public void step(Duration age) {
      listeners.forEach(listener -> listener.hear(false));
      Listener added = new Listener(Block.of(Native.malloc(BYTES), BYTES).filled());
      added.hear(true);
      listeners.add(added);
      leaked(BYTES);
    }

    private static final class Listener {
      private final Block buffer;
      private long heard;

      Listener(Block buffer) {
        this.buffer = buffer;
      }

      void hear(boolean ofItsPage) {
        heard += ofItsPage ? buffer.read() : 1;
      }
    }
  }

  /** Leaks an inflater each second for three minutes, then none for six minutes. */
  static final class WithPauses extends Kept {
    /** The bytes that zlib allocates for a decompressor, with its window of 32 KiB. */
    private static final int BYTES = 40_000;

    private final List<Inflater> kept = new ArrayList<>();
    private final byte[] input = Texts.deflated(PAGE);
    private final byte[] output = new byte[512];

    WithPauses() {
      super(60.0 * BYTES);
    }

    @Override
    public Duration period() {
      return Duration.ofSeconds(1);
    }

    @Override
    public void step(Duration age) throws DataFormatException {
      if (age.toMinutes() % 9 < 3) {
        Inflater inflater = new Inflater();
        inflater.setInput(input);
        inflater.inflate(output);
        kept.add(inflater);
        leaked(BYTES);
      }
    }
  }

  /** Leaks 200 objects every five minutes. */
  static final class Bursts extends Kept {
    private static final int BYTES = 8 * KIB;

    private final List<Block> kept = new ArrayList<>();

    Bursts() {
      super(40.0 * BYTES);
    }

    @Override
    public Duration period() {
      return Duration.ofMinutes(5);
    }

    @Override
    public void step(Duration age) {
      for (int i = 0; i < 200; i++) {
        kept.add(Block.of(Native.malloc(BYTES), BYTES).filled());
        leaked(BYTES);
      }
    }
  }

  /** Adds direct buffers to a queue that no consumer reads. */
  static final class BuffersInQueue extends Kept {
    private static final int BYTES = 32 * KIB;

    private final ArrayDeque<ByteBuffer> queue = new ArrayDeque<>();

    BuffersInQueue() {
      super(20.0 * BYTES);
    }

    @Override
    public Duration period() {
      return Duration.ofSeconds(3);
    }

    @Override
    public void step(Duration age) {
      queue.add(ByteBuffer.allocateDirect(BYTES).put(PAGE));
      leaked(BYTES);
    }
  }

  /** Keeps the compression contexts of exports that a user left open. */
  static final class OpenExports extends Kept {
    /** The bytes that zstd allocates for a context that has compressed a page at level 1. */
    private static final int BYTES = 130_000;

    private final List<ZstdCompressCtx> open = new ArrayList<>();

    OpenExports() {
      super(3.0 * BYTES);
    }

    @Override
    public Duration period() {
      return Duration.ofSeconds(20);
    }

    @Override
    public void step(Duration age) {
      ZstdCompressCtx context = new ZstdCompressCtx().setLevel(1);
      context.compress(PAGE);
      open.add(context);
      leaked(BYTES);
    }
  }
}
