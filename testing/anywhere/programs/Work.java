import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.Deflater;

/**
 * A program without a framework, for any Java since 8: keeps native memory that one method of its own asked for, starts
 * another program, and ends with an exit code of its own when its input ends.
 */
public final class Work {

  private static final int KEPT_AT_MOST = 200;
  private static final int EXIT_CODE = 7;

  private static final List<Deflater> KEPT = new ArrayList<>();

  private Work() {}

  public static void main(String[] arguments) throws IOException {
    keepDeflater();
    System.out.println("child: " + child());
    System.out.println("ready");
    // Java frames are known only once the bridge runs, so memory is asked for until then.
    Thread keeper = new Thread(Work::keepSome);
    keeper.setDaemon(true);
    keeper.start();
    while (System.in.read() >= 0) {
      // The runner ends the input.
    }
    System.err.println("to standard error");
    System.out.println("done");
    System.exit(EXIT_CODE);
  }

  private static void keepSome() {
    try {
      for (int i = 0; i < KEPT_AT_MOST; i++) {
        keepDeflater();
        Thread.sleep(20);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The name of this method is to be found in a call site. */
  static void keepDeflater() {
    Deflater deflater = new Deflater();
    deflater.setInput(new byte[1000]);
    deflater.deflate(new byte[100]);
    KEPT.add(deflater);
  }

  private static String child() {
    try {
      Process child = new ProcessBuilder("true").redirectErrorStream(true).start();
      return "exit code " + child.waitFor();
    } catch (IOException e) {
      return e.getMessage();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
