import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.zip.Deflater;

/**
 * Holds memory of malloc in several arenas until its input ends. Begins after one byte of input.
 *
 * <p>Eight threads allocate pieces of up to 64 KiB with zlib and free a third of the pieces. Then
 * 140 objects of 700 KiB are allocated. Most of these large objects are sampled.
 */
public final class Holder {

  private static final int THREADS = 8;
  private static final int OBJECTS = 90;
  private static final int FREED = 3;
  private static final int LARGE_OBJECTS = 140;

  private static final List<Deflater> KEPT = new ArrayList<>();
  private static final List<ByteBuffer> LARGE = new ArrayList<>();

  private Holder() {}

  public static void main(String[] arguments) throws Exception {
    System.in.read();
    CountDownLatch full = new CountDownLatch(THREADS);
    for (int i = 0; i < THREADS; i++) {
      int number = i;
      Thread thread = new Thread(() -> hold(number, full));
      thread.setDaemon(true);
      thread.start();
    }
    full.await();
    for (int i = 0; i < LARGE_OBJECTS; i++) {
      LARGE.add(ByteBuffer.allocateDirect(700 << 10));
    }
    System.out.println("ready");
    while (System.in.read() >= 0) {}
    System.exit(KEPT.isEmpty() || LARGE.isEmpty() ? 1 : 0);
  }

  private static void hold(int seed, CountDownLatch full) {
    byte[] noise = new byte[100_000];
    new Random(seed).nextBytes(noise);
    byte[] out = new byte[noise.length + 1_000];
    List<Deflater> taken = new ArrayList<>();
    for (int i = 0; i < OBJECTS; i++) {
      Deflater deflater = new Deflater(1);
      deflater.setInput(noise);
      deflater.deflate(out, 0, out.length, Deflater.SYNC_FLUSH);
      taken.add(deflater);
    }
    for (int i = 0; i < OBJECTS; i++) {
      if (i % FREED == 0) {
        taken.get(i).end();
      }
    }
    synchronized (KEPT) {
      KEPT.addAll(taken);
    }
    full.countDown();
    try {
      // The thread must live, so that it keeps its arena.
      Thread.sleep(Long.MAX_VALUE);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
