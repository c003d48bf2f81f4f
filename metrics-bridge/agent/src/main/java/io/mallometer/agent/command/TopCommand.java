package io.mallometer.agent.command;

import io.mallometer.agent.command.TopScreen.Sort;
import java.io.IOError;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jline.terminal.Attributes;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.NonBlockingReader;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Shows the native memory of a JVM, live. */
@Command(
    name = "top",
    description = {
      "Shows the resident set, libraries and call sites of a JVM, live.",
      "Keys: b, g, r, o sort by live bytes, growth, rate, objects; q ends. Without a terminal it"
          + " prints one line for each reading."
    })
final class TopCommand implements Callable<Integer> {

  private static final int TICK_MILLIS = 100;
  private static final int ESCAPE = 27;

  private static final String ALTERNATE = "\u001b[?1049h\u001b[?25l";
  private static final String NORMAL = "\u001b[?25h\u001b[?1049l";
  private static final String HOME = "\u001b[H";
  private static final String REST_OF_LINE = "\u001b[K";

  @Mixin private Target target = new Target();

  @Option(
      names = "--interval",
      paramLabel = "TIME",
      defaultValue = "2s",
      description = "time between two readings; ${DEFAULT-VALUE} by default")
  private String interval = "2s";

  @Option(
      names = "--count",
      defaultValue = "0",
      description = "end after this number of readings; 0: never")
  private int count;

  private final AtomicBoolean resized = new AtomicBoolean();
  private final AtomicBoolean interrupted = new AtomicBoolean();
  private Size latestSize = new Size();

  @Override
  public Integer call() throws Exception {
    Duration pause = Target.span("--interval", interval);
    try (Source source = target.open()) {
      TopScreen board = new TopScreen(source.name(), target.given());
      board.read(source);
      Optional<Terminal> terminal = terminal();
      if (terminal.isEmpty()) {
        if (!board.offer().isEmpty()) {
          System.err.println("mallometer: " + source.name() + " is " + board.offer());
        }
        return lines(source, board, pause);
      }
      try (Terminal screen = terminal.get()) {
        return live(source, board, pause, screen);
      }
    }
  }

  /** Returns the terminal; empty if there is none, or the programs stty and tty are missing. */
  private static Optional<Terminal> terminal() {
    if (System.console() == null || "dumb".equals(System.getenv("TERM"))) {
      return Optional.empty();
    }
    try {
      Terminal terminal =
          TerminalBuilder.builder()
              .system(true)
              .provider("exec")
              .dumb(false)
              .nativeSignals(true)
              .build();
      return Optional.of(terminal);
    } catch (IOException | RuntimeException e) {
      return Optional.empty();
    }
  }

  private int lines(Source source, TopScreen board, Duration pause) throws Exception {
    Output out = Output.standard();
    for (int i = 1; ; i++) {
      out.line(board.line()).flush();
      if (i == count) {
        return ExitCode.OK;
      }
      Thread.sleep(pause.toMillis());
      board.read(source);
    }
  }

  private int live(Source source, TopScreen board, Duration pause, Terminal screen)
      throws Exception {
    Attributes before = screen.enterRawMode();
    screen.handle(Terminal.Signal.WINCH, signal -> resized.set(true));
    screen.handle(Terminal.Signal.INT, signal -> interrupted.set(true));
    screen.writer().print(ALTERNATE);
    try {
      return loop(source, board, pause, screen);
    } finally {
      screen.writer().print(NORMAL);
      screen.writer().flush();
      screen.setAttributes(before);
    }
  }

  private int loop(Source source, TopScreen board, Duration pause, Terminal screen)
      throws Exception {
    Sort sort = Sort.LIVE;
    int readings = 1;
    long next = System.nanoTime() + pause.toNanos();
    draw(board, sort, screen);
    while (!interrupted.get()) {
      int key = screen.reader().read(TICK_MILLIS);
      if (key == 'q' || key == ESCAPE || key == NonBlockingReader.EOF) {
        return ExitCode.OK;
      }
      Optional<Sort> chosen = sort(key);
      boolean due = System.nanoTime() >= next;
      if (due) {
        if (readings == count) {
          return ExitCode.OK;
        }
        board.read(source);
        readings++;
        next = System.nanoTime() + pause.toNanos();
      }
      sort = chosen.orElse(sort);
      if (due || chosen.isPresent() || resized.getAndSet(false)) {
        draw(board, sort, screen);
      }
    }
    return ExitCode.INTERRUPTED;
  }

  private static Optional<Sort> sort(int key) {
    return Stream.of(Sort.values()).filter(sort -> sort.key == key).findFirst();
  }

  /**
   * Returns the screen's size, or the previous size if reading it fails. JLine reads the size with
   * the program stty, which Ctrl-C ends.
   */
  private Size size(Terminal screen) {
    try {
      latestSize = screen.getSize();
    } catch (IOError e) {
      resized.set(true);
    }
    return latestSize;
  }

  private void draw(TopScreen board, Sort sort, Terminal screen) {
    Size size = size(screen);
    int width = size.getColumns() > 0 ? size.getColumns() : 80;
    int height = size.getRows() > 0 ? size.getRows() : 24;
    StringBuilder text = new StringBuilder(HOME);
    List<String> lines = board.lines(width, height, sort);
    for (int i = 0; i < lines.size(); i++) {
      text.append(lines.get(i)).append(REST_OF_LINE).append(i + 1 < lines.size() ? "\r\n" : "");
    }
    screen.writer().print(text);
    screen.writer().flush();
  }
}
