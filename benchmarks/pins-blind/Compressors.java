import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.Deflater;

/**
 * A service that opened 600 compressors at once, and for each of them noted 30 cookies of 64 bytes
 * that it keeps; the compressors are ended, and their memory stays.
 *
 * <p>Planted: {@code Compressors.noteCookie}, through JNA's {@code Memory}. 18,000 cookies of 64
 * bytes, 1.4 MB with the heads of their chunks, lie between contexts of zlib of some 268 KB each
 * (state 6 KB, window 64 KB, links 64 KB, heads 128 KB). Some 160 MB are free but not returned, 130
 * MB of them resident: so much less is resident if no cookie is noted. The first cookies go into
 * holes that the start of the JVM left; the rest follow their compressors.
 *
 * <p>Innocent: {@code Compressors.loadTable}, 16 MB in 2,000 blocks that are taken before.
 *
 * <p>{@code javac -cp jna.jar Compressors.java && java -Xmx128m -cp jna.jar:. Compressors}: prints
 * a line when it is ready, ends at a line on its input or after ten minutes.
 */
public final class Compressors {

  private static final int COMPRESSORS = 600;
  private static final int COOKIES = 30;
  private static final List<Memory> TABLE = new ArrayList<>();
  private static final List<Memory> JAR = new ArrayList<>();

  private Compressors() {}

  /** See the class. */
  public static void main(String[] arguments) throws IOException {
    endAfterTenMinutes();
    loadTable();
    List<Deflater> open = new ArrayList<>();
    for (int i = 0; i < COMPRESSORS; i++) {
      open.add(openCompressor());
      for (int j = 0; j < COOKIES; j++) {
        noteCookie();
      }
    }
    open.forEach(Deflater::end);
    System.out.printf(
        "ready: cookies lie in %d of the pieces of 256 KiB%n",
        JAR.stream().map(Pointer::nativeValue).map(at -> at >> 18).distinct().count());
    System.out.flush();
    System.in.read();
    System.exit(0);
  }

  private static void loadTable() {
    for (int i = 0; i < 2_000; i++) {
      Memory block = new Memory(8_000);
      block.clear();
      TABLE.add(block);
    }
  }

  private static Deflater openCompressor() {
    Deflater deflater = new Deflater();
    byte[] input = new byte[100_000];
    for (int i = 0; i < input.length; i++) {
      input[i] = (byte) (i * 31 >> 3);
    }
    deflater.setInput(input);
    deflater.deflate(new byte[100_000], 0, 100_000, Deflater.SYNC_FLUSH);
    return deflater;
  }

  private static void noteCookie() {
    Memory cookie = new Memory(64);
    cookie.setLong(0, JAR.size());
    JAR.add(cookie);
  }

  private static void endAfterTenMinutes() {
    Thread end =
        new Thread(
            () -> {
              try {
                Thread.sleep(600_000);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
              Runtime.getRuntime().halt(0);
            },
            "end");
    end.setDaemon(true);
    end.start();
  }
}
