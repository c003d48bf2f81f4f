package io.mallometer.benchmarks.leaks;

import static java.lang.invoke.MethodType.methodType;

import com.github.luben.zstd.ZstdCompressCtx;
import com.sun.jna.Function;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import io.mallometer.benchmarks.leaks.Held.Block;
import io.mallometer.benchmarks.leaks.Held.SharedWrapper;
import io.mallometer.benchmarks.leaks.Held.Texts;
import io.mallometer.benchmarks.leaks.Kernels.Kernel;
import io.mallometer.internal.leak.evidence.MemorySearch;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.library.load.ProcessLibrary;
import io.mallometer.model.CallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;

/**
 * Kernels that lose the last address of 1 to 3 MB each minute, so that it can be neither used nor
 * freed.
 */
final class Losing {

  static final List<Class<? extends Kernel>> ALL =
      List.of(
          JnaBlocks.class,
          ThroughWrapper.class,
          ManySmall.class,
          UnsafeBlocks.class,
          CStrings.class,
          ForgottenOnError.class,
          ReplacedEntries.class,
          ThreadBuffers.class,
          GrownBuffers.class,
          DroppedReadOptions.class,
          DroppedZstdContexts.class,
          DroppedLists.class);

  private static final byte[] PAGE = Texts.compressible(8192);

  private Losing() {}

  /** Memory for a C function, never freed. */
  static final class JnaBlocks implements Kernel {
    private static final int BYTES = 4096;

    @Override
    public Duration period() {
      return Duration.ofMillis(100);
    }

    @Override
    public void step(Duration age) {
      Block.of(Native.malloc(BYTES), BYTES).filled();
    }
  }

  /** The caller of the shared method that does not free. */
  static final class ThroughWrapper implements Kernel {
    @Override
    public Duration period() {
      return Duration.ofMillis(500);
    }

    @Override
    public void step(Duration age) {
      SharedWrapper.allocate(20_000);
    }
  }

  /** Loses 400 objects of 80 bytes a second. */
  static final class ManySmall implements Kernel {
    private static final int BYTES = 80;

    @Override
    public Duration period() {
      return Duration.ofMillis(250);
    }

    @Override
    public void step(Duration age) {
      for (int i = 0; i < 100; i++) {
        Block.of(Native.malloc(BYTES), BYTES).filled();
      }
    }
  }

  /** Off-heap memory of a library that frees nothing. */
  static final class UnsafeBlocks implements Kernel {
    private static final int BYTES = 16_000;

    private final MethodHandle allocate = allocateMemory();

    @Override
    public Duration period() {
      return Duration.ofMillis(500);
    }

    @Override
    public void step(Duration age) throws Throwable {
      Block.of((long) allocate.invoke((long) BYTES), BYTES).filled();
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

  /** A C function allocates strings for its caller, who does not free them. */
  static final class CStrings implements Kernel {
    private final Function strdup = Function.getFunction("c", "strdup");
    private final String text = new String(PAGE, StandardCharsets.US_ASCII);

    @Override
    public Duration period() {
      return Duration.ofMillis(500);
    }

    @Override
    public void step(Duration age) {
      strdup.invokePointer(new Object[] {text});
    }
  }

  /** Each fifth request fails, and then its memory is not freed. */
  static final class ForgottenOnError implements Kernel {
    private static final int BYTES = 16_000;

    private int requests;

    @Override
    public Duration period() {
      return Duration.ofMillis(100);
    }

    @Override
    public void step(Duration age) {
      try {
        Block block = Block.of(Native.malloc(BYTES), BYTES).filled();
        answer();
        block.free();
      } catch (IllegalStateException expected) {
        // The request failed without freeing its memory.
      }
    }

    private void answer() {
      if (++requests % 5 == 0) {
        throw new IllegalStateException("no answer");
      }
    }
  }

  /** Each of 50 entries is replaced every 15 s, and the old one is not freed. */
  static final class ReplacedEntries implements Kernel {
    private static final int BYTES = 6000;

    private final Map<Integer, Block> entries = new HashMap<>();
    private int next;

    @Override
    public Duration period() {
      return Duration.ofMillis(300);
    }

    @Override
    public void step(Duration age) {
      entries.put(next++ % 50, Block.of(Native.malloc(BYTES), BYTES).filled());
      entries.values().forEach(Block::read);
    }
  }

  /** Threads end without freeing their buffers. */
  static final class ThreadBuffers implements Kernel {
    private static final int BYTES = 12_000;

    @Override
    public Duration period() {
      return Duration.ofMillis(700);
    }

    @Override
    public void step(Duration age) {
      new Thread(() -> Block.of(Native.malloc(BYTES), BYTES).filled().read()).start();
    }
  }

  /** A C function enlarges an output buffer. The caller copies it and does not free it. */
  static final class GrownBuffers implements Kernel {
    private static final int MOST = 16_000;

    private final Function realloc = Function.getFunction("c", "realloc");

    @Override
    public Duration period() {
      return Duration.ofSeconds(1);
    }

    @Override
    public void step(Duration age) {
      Pointer buffer = null;
      for (long bytes = 1000; bytes <= MOST; bytes *= 2) {
        buffer = realloc.invokePointer(new Object[] {buffer, bytes});
        buffer.setMemory(0, bytes, (byte) 1);
      }
    }
  }

  /** Each read has options of RocksDB, which the caller does not close. */
  static final class DroppedReadOptions implements Kernel {
    DroppedReadOptions() {
      RocksDB.loadLibrary();
    }

    @Override
    public Duration period() {
      return Duration.ofMillis(100);
    }

    @Override
    public void step(Duration age) {
      for (int i = 0; i < 20; i++) {
        new ReadOptions().setFillCache(false);
      }
    }
  }

  /** Compression contexts, structures with a table of their own, are neither kept nor closed. */
  static final class DroppedZstdContexts implements Kernel {
    @Override
    public Duration period() {
      return Duration.ofSeconds(1);
    }

    @Override
    public void step(Duration age) {
      new ZstdCompressCtx().setLevel(1).compress(PAGE);
    }
  }

  /** Lists of ten nodes are lost. Each node has the address of the next. */
  static final class DroppedLists implements Kernel {
    private static final int BYTES = 2000;
    private static final int NODES = 10;

    @Override
    public Duration period() {
      return Duration.ofSeconds(1);
    }

    @Override
    public void step(Duration age) {
      long head = 0;
      for (int i = 0; i < NODES; i++) {
        long node = Block.of(Native.malloc(BYTES), BYTES).filled().address();
        new Pointer(node).setLong(0, head);
        head = node;
      }
    }
  }

  /**
   * Prints the cost of a search for lost memory. Argument: the GiB to fill with random words. The
   * search looks for the blocks that hold these words.
   */
  public static final class SearchCost {

    private static final int BYTES = 1 << 20;
    private static final int SEARCHES = 3;
    private static final double GIB = 1 << 30;

    private SearchCost() {}

    public static void main(String[] arguments) throws InterruptedException {
      NativeLibrary library = new ProcessLibrary();
      library.observeUse(Duration.ofSeconds(5));
      fill((long) (Double.parseDouble(arguments[0]) * GIB));
      List<Integer> sites =
          library.callSites(Instant.now(), List.of()).sites().stream()
              .filter(site -> site.liveBytes().value() >= BYTES)
              .map(CallSite::number)
              .limit(NativeLibrary.MOST_SEARCHED_SITES)
              .toList();
      for (int i = 0; i < SEARCHES; i++) {
        System.out.println(described(search(library, sites)));
      }
    }

    /** Fills memory with random words. A few look like addresses, as in other memory. */
    private static void fill(long bytes) {
      long[] words = new Random(1).longs(BYTES / Long.BYTES).toArray();
      for (long filled = 0; filled < bytes; filled += BYTES) {
        new Pointer(Native.malloc(BYTES)).write(0, words, 0, words.length);
      }
    }

    private static MemorySearch search(NativeLibrary library, List<Integer> sites)
        throws InterruptedException {
      String refusal = library.searchMemory(sites, Long.MAX_VALUE);
      if (!refusal.isEmpty()) {
        throw new IllegalStateException(refusal);
      }
      while (library.memorySearch().state() == MemorySearch.State.RUNNING) {
        Thread.sleep(50);
      }
      return library.memorySearch();
    }

    private static String described(MemorySearch search) {
      return String.format(
          "%s %s: %.2f of %.2f GiB, %.2f s of processor time, %.1f s in all; for %d objects",
          search.state(),
          search.reason(),
          search.coverage().searchedBytes() / GIB,
          search.coverage().residentBytes() / GIB,
          search.effort().cpuSeconds(),
          (search.effort().endedNanos() - search.effort().beganNanos()) / 1e9,
          search.objects().size());
    }
  }
}
