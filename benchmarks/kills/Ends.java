import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.crac.Core;

/**
 * Ends in the way that HOW names, or sleeps until it is ended: {@code Ends HOW REST_SECONDS MESSAGE}. Unless HOW is
 * {@code child}, the program first allocates until the termination message reports 85 % of the limit. So there is a
 * message, which must be emptied or kept, depending on the end.
 */
final class Ends {

  private static final int FULL = 85;
  private static final Pattern SHARE = Pattern.compile(": (\\d+) % of the limit");

  private Ends() {}

  public static void main(String[] arguments) throws Exception {
    Burst.rest(arguments[1]);
    if (arguments[0].equals("child")) {
      child();
    }
    fill(Path.of(arguments[2]));
    System.out.println("full");
    switch (arguments[0]) {
      case "return" -> System.out.println("main ends");
      case "exit3" -> System.exit(3);
      case "crash" -> Buffers.write(8);
      case "checkpoint" -> {
        Core.getGlobalContext().beforeCheckpoint(Core.getGlobalContext());
        System.out.println("prepared");
        Thread.sleep(60_000);
      }
      default -> Thread.sleep(60_000);
    }
  }

  /** Starts a child that the kernel kills because it exceeds the memory limit, and then exits. */
  private static void child() throws IOException, InterruptedException {
    new ProcessBuilder("sh", "-c", "x=0123456789abcdef; while :; do x=$x$x; done").start().waitFor();
    Thread.sleep(2_000);
    System.exit(0);
  }

  private static void fill(Path message) throws IOException {
    while (share(message) < FULL) {
      for (int i = 0; i < 8; i++) {
        Buffers.grab(65536);
      }
      LockSupport.parkNanos(10_000_000);
    }
  }

  private static int share(Path message) throws IOException {
    Matcher said = SHARE.matcher(Files.readString(message));
    return said.find() ? Integer.parseInt(said.group(1)) : 0;
  }
}
