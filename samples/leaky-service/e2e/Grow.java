import java.util.ArrayList;
import java.util.List;
import java.util.zip.Deflater;

/** An unprepared application: allocates more native memory each second, until its standard input ends. */
public final class Grow {
  private static final List<Deflater> KEPT = new ArrayList<>();

  private Grow() {}

  public static void main(String[] arguments) throws Exception {
    while (System.in.available() == 0) {
      Deflater deflater = new Deflater();
      deflater.setInput(new byte[1_000]);
      deflater.deflate(new byte[2_000]);
      KEPT.add(deflater);
      Thread.sleep(500);
    }
  }
}
