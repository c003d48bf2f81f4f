import java.nio.ByteBuffer;
import java.util.concurrent.ThreadLocalRandom;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * Allocates native memory in three threads for ten minutes: zlib streams and direct buffers. Some
 * buffers stay live.
 */
class Probed {

  public static void main(String[] arguments) throws Exception {
    for (int i = 0; i < 3; i++) {
      Thread thread = new Thread(Probed::allocate);
      thread.setDaemon(true);
      thread.start();
    }
    Thread.sleep(600_000);
  }

  private static void allocate() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    byte[] input = new byte[4096], output = new byte[8192];
    ByteBuffer[] kept = new ByteBuffer[64];
    while (true) {
      random.nextBytes(input);
      Deflater deflater = new Deflater(random.nextInt(10));
      deflater.setInput(input);
      deflater.finish();
      int length = deflater.deflate(output);
      deflater.end();
      Inflater inflater = new Inflater();
      inflater.setInput(output, 0, length);
      try {
        inflater.inflate(input);
      } catch (java.util.zip.DataFormatException impossible) {
        throw new IllegalStateException(impossible);
      }
      inflater.end();
      kept[random.nextInt(kept.length)] = ByteBuffer.allocateDirect(1 + random.nextInt(100_000));
    }
  }
}
