import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the true growth of a program by the rows of mallometer's account. Prints the counts every five seconds: {@code planted},
 * the milliseconds since 1970, and a field {@code ROW=BYTES} for each row, separated by tabs.
 *
 * <p>A row is {@code KIND:NAME}, such as {@code site:Archive.pack}, {@code file:data.mdb} or {@code count:threads}.
 */
final class Planted {
  private static final Map<String, LongAdder> ROWS = new ConcurrentHashMap<>();

  static {
    Thread printer = new Thread(Planted::printAgainAndAgain, "planted");
    printer.setDaemon(true);
    printer.start();
  }

  private Planted() {}

  static void add(String row, long bytes) {
    ROWS.computeIfAbsent(row, key -> new LongAdder()).add(bytes);
  }

  private static void printAgainAndAgain() {
    try {
      while (true) {
        StringBuilder line = new StringBuilder("planted\t").append(System.currentTimeMillis());
        ROWS.forEach((row, bytes) -> line.append('\t').append(row).append('=').append(bytes.sum()));
        System.out.println(line);
        Thread.sleep(5_000);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
