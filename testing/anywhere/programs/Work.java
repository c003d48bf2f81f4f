import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.Deflater;

/**
 * Keeps native memory that {@link #keepDeflater} allocated, starts another program, and describes the environment of
 * the process. Ends with exit code 7 when its input ends. Runs on Java 8 and newer.
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
    // Recorded stacks have Java frames only after mallometer's Java code has started. The thread
    // therefore goes on allocating, for 4 s.
    Thread keeper = new Thread(Work::keepSome);
    keeper.setDaemon(true);
    keeper.start();
    while (System.in.read() >= 0) {
      // Waits until the test runner closes the input.
    }
    System.err.println("to standard error");
    System.out.println("done");
    System.out.println("place: " + place());
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

  /** The runner looks for the name of this method in a call site. */
  static void keepDeflater() {
    Deflater deflater = new Deflater();
    deflater.setInput(new byte[1000]);
    deflater.deflate(new byte[100]);
    KEPT.add(deflater);
  }

  private static String place() {
    return String.format(
        "user=%s HOME=%s /tmp=%s /proc/self=%s /proc/1=%s",
        System.getProperty("user.name"),
        System.getenv("HOME") == null ? "unset" : "set",
        temporaryFiles(),
        existence("/proc/self"),
        existence("/proc/1"));
  }

  private static String existence(String path) {
    return new File(path).exists() ? "exists" : "absent";
  }

  private static String temporaryFiles() {
    File file = new File("/tmp", "anywhere-" + System.nanoTime());
    try {
      if (!file.createNewFile()) {
        return "unknown";
      }
      return file.setExecutable(true) && file.canExecute() ? "writable" : "noexec";
    } catch (IOException e) {
      return new File("/tmp").exists() ? "read-only" : "absent";
    } finally {
      file.delete();
    }
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
