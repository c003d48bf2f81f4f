import java.util.ArrayList;
import java.util.List;
import java.util.zip.Deflater;

/**
 * Reads a line, and then keeps native memory until its input ends. The argument is the number of
 * objects that hold the memory.
 */
public final class Keeper {

  private static final List<Deflater> KEPT = new ArrayList<>();

  private Keeper() {}

  public static void main(String[] arguments) throws Exception {
    while (System.in.read() != '\n') {}
    for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
      keep();
    }
    while (System.in.read() >= 0) {}
    System.exit(0);
  }

  private static void keep() {
    Deflater deflater = new Deflater();
    deflater.setInput(new byte[1000]);
    deflater.finish();
    deflater.deflate(new byte[2000]);
    KEPT.add(deflater);
  }
}
