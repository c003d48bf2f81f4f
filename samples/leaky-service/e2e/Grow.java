import java.util.ArrayList;
import java.util.List;
import java.util.zip.Deflater;

/**
 * Allocates 268 kB of native memory again and again, and keeps it. The pause between two
 * allocations is 500 ms, or the number of milliseconds in the first argument. Ends at any input on
 * its standard input.
 */
public final class Grow {
  private static final List<Deflater> KEPT = new ArrayList<>();

  private Grow() {}

  public static void main(String[] arguments) throws Exception {
    long pause = arguments.length > 0 ? Long.parseLong(arguments[0]) : 500;
    while (System.in.available() == 0) {
      Deflater deflater = new Deflater();
      deflater.setInput(new byte[1_000]);
      deflater.deflate(new byte[2_000]);
      KEPT.add(deflater);
      Thread.sleep(pause);
    }
  }
}
