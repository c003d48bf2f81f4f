import java.lang.reflect.Field;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Random;
import java.util.function.LongUnaryOperator;
import sun.misc.Unsafe;

/**
 * Usage: {@code Growing MIB}. Allocates MIB mebibytes, prints a line, waits for a line of input,
 * and then leaks at known rates. run.py writes the input when mallometer is attached or preloaded.
 *
 * <p>Half of the memory is a pool, where each object is replaced after five minutes. A twentieth of
 * the memory consists of objects that are replaced after 30 s on average.
 */
final class Growing {
  private static final double MIB = 1 << 20;
  private static final Unsafe UNSAFE = unsafe();
  private static final int ENTRY = 64 << 10;
  private static final int SHORT_LIVED = 32 << 10;
  private static final double POOL_SECONDS = 300;
  private static final double SHORT_SECONDS = 30;

  /** The leaks. run.py parses their names, sizes and rates from this source file. */
  private static final List<Leak> LEAKS =
      List.of(
          new Leak("leakOf1KiB", Growing::leakOf1KiB, 1 << 10, 12),
          new Leak("leakOf4KiB", Growing::leakOf4KiB, 4 << 10, 6),
          new Leak("leakOf16KiB", Growing::leakOf16KiB, 16 << 10, 24),
          new Leak("leakOf20KiB", Growing::leakOf20KiB, 20 << 10, 3),
          new Leak("leakOf64KiB", Growing::leakOf64KiB, 64 << 10, 12),
          new Leak("leakOf256KiB", Growing::leakOf256KiB, 256 << 10, 6));

  private record Leak(String name, LongUnaryOperator site, int bytes, double mibPerMinute) {}

  private record Due(double seconds, long address) implements Comparable<Due> {
    @Override
    public int compareTo(Due other) {
      return Double.compare(seconds, other.seconds);
    }
  }

  private final Random random = new Random(1);
  private final double poolBytes;
  private final double shortBytes;
  private final Deque<Long> pool = new ArrayDeque<>();
  private final Queue<Due> shortLived = new PriorityQueue<>();
  private long replaced;
  private long passed;
  private final long[] leaked = new long[LEAKS.size()];

  private Growing(double bytes) {
    poolBytes = bytes / 2;
    shortBytes = bytes / 20;
    for (double held = 0; held < bytes - poolBytes - shortBytes; held += ENTRY) {
      held();
    }
    for (double held = 0; held < poolBytes; held += ENTRY) {
      pool.add(pooled());
    }
    for (double held = 0; held < shortBytes; held += SHORT_LIVED) {
      beginShortLife(0);
    }
  }

  public static void main(String[] arguments) throws Exception {
    Growing program = new Growing(Double.parseDouble(arguments[0]) * MIB);
    System.out.println("holds the memory");
    System.in.read();
    for (long begin = System.nanoTime(); ; Thread.sleep(50)) {
      program.advance((System.nanoTime() - begin) / 1e9);
    }
  }

  private void advance(double seconds) {
    for (int i = 0; i < leaked.length; i++) {
      Leak leak = LEAKS.get(i);
      for (; leaked[i] * (double) leak.bytes() < leak.mibPerMinute() * MIB / 60 * seconds; leaked[i]++) {
        UNSAFE.putByte(leak.site().applyAsLong(leak.bytes()), (byte) 1);
      }
    }
    for (; replaced * (double) ENTRY < poolBytes / POOL_SECONDS * seconds; replaced++) {
      UNSAFE.freeMemory(pool.remove());
      pool.add(pooled());
    }
    for (; !shortLived.isEmpty() && shortLived.element().seconds() < seconds; passed++) {
      UNSAFE.freeMemory(shortLived.remove().address());
      beginShortLife(seconds);
    }
  }

  private void beginShortLife(double seconds) {
    shortLived.add(new Due(seconds - SHORT_SECONDS * Math.log(1 - random.nextDouble()), passing()));
  }

  private static long held() {
    return UNSAFE.allocateMemory(ENTRY);
  }

  private static long pooled() {
    return UNSAFE.allocateMemory(ENTRY);
  }

  private static long passing() {
    return UNSAFE.allocateMemory(SHORT_LIVED);
  }

  private static long leakOf1KiB(long bytes) {
    return UNSAFE.allocateMemory(bytes);
  }

  private static long leakOf4KiB(long bytes) {
    return UNSAFE.allocateMemory(bytes);
  }

  private static long leakOf16KiB(long bytes) {
    return UNSAFE.allocateMemory(bytes);
  }

  private static long leakOf20KiB(long bytes) {
    return UNSAFE.allocateMemory(bytes);
  }

  private static long leakOf64KiB(long bytes) {
    return UNSAFE.allocateMemory(bytes);
  }

  private static long leakOf256KiB(long bytes) {
    return UNSAFE.allocateMemory(bytes);
  }

  private static Unsafe unsafe() {
    try {
      Field field = Unsafe.class.getDeclaredField("theUnsafe");
      field.setAccessible(true);
      return (Unsafe) field.get(null);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
