package io.mallometer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A Java program in a separate process, for tests that cannot run in the JVM of the tests. */
public final class ChildJvm {

  public record Result(int exitCode, String output) {}

  private static final int FIRST_ATTACHED = 25;

  private final List<String> prefix = new ArrayList<>();

  /**
   * The options of the JVM. Most programs run only for seconds, so the optimizing compiler is off.
   * The verification of bytecode is off because it takes an eighth of the CPU time.
   */
  private final List<String> options =
      new ArrayList<>(
          List.of(
              "-Xmx128m",
              "-Xshare:auto",
              "-XX:TieredStopAtLevel=1",
              "-XX:+UnlockDiagnosticVMOptions",
              "-XX:-BytecodeVerificationRemote"));

  private final ProcessBuilder process = new ProcessBuilder();
  private Duration timeout = Duration.ofSeconds(60);
  private String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
  private String classPath = System.getProperty("java.class.path");

  /**
   * Prepares a program with this JVM's JDK and class path. The program does not inherit {@code
   * LD_PRELOAD} and {@code MALLOMETER_ATTACH}.
   */
  public ChildJvm() {
    process.environment().remove("LD_PRELOAD");
    process.environment().remove("MALLOMETER_ATTACH");
  }

  public ChildJvm preload(Path library) {
    return environment("LD_PRELOAD", library.toString());
  }

  public ChildJvm preloadUnless(boolean attaches, Path library) {
    return attaches ? this : preload(library);
  }

  public ChildJvm environment(String name, String value) {
    process.environment().put(name, value);
    return this;
  }

  public ChildJvm options(String... more) {
    options.addAll(Arrays.asList(more));
    return this;
  }

  public ChildJvm compilingFully() {
    return options("-XX:TieredStopAtLevel=4");
  }

  public ChildJvm withoutOptions() {
    options.clear();
    return this;
  }

  public ChildJvm timeout(Duration longest) {
    timeout = longest;
    return this;
  }

  public ChildJvm java(Path home) {
    java = home.resolve("bin/java").toString();
    return this;
  }

  /**
   * Runs a shell script in a new mount namespace, which needs root. The shell then becomes the JVM,
   * so {@code $$} in the script is the JVM's process id.
   */
  public ChildJvm mounting(String script) {
    prefix.addAll(List.of("unshare", "-m", "sh", "-ec", script + "; exec \"$@\"", "sh"));
    return this;
  }

  public ChildJvm limited(String limits) {
    prefix.addAll(List.of("sh", "-ec", "ulimit " + limits + "; exec \"$@\"", "sh"));
    return this;
  }

  public static boolean canMount() {
    try {
      return new ProcessBuilder("unshare", "-m", "true").start().waitFor() == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  public ChildJvm withoutClassPath(String part) {
    classPath =
        String.join(
            ":", Stream.of(classPath.split(":")).filter(entry -> !entry.contains(part)).toList());
    return this;
  }

  /**
   * Runs a main class to its end. A program that exceeds the timeout is killed and fails the test.
   */
  public Result run(Class<?> main, String... arguments) {
    return run(List.of("-cp", classPath, main.getName()), arguments);
  }

  public Result runJar(Path jar, String... arguments) {
    return run(List.of("-jar", jar.toString()), arguments);
  }

  private Result run(List<String> program, String... arguments) {
    List<String> command = new ArrayList<>(prefix);
    command.add(java);
    command.addAll(options);
    command.addAll(program);
    command.addAll(Arrays.asList(arguments));
    try {
      Path output = Files.createTempFile("child", ".txt");
      try {
        Process child =
            process
                .command(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        if (!child.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
          child.destroyForcibly().waitFor();
          throw new AssertionError("did not end: " + command + "\n" + Files.readString(output));
        }
        return new Result(child.exitValue(), Files.readString(output));
      } finally {
        Files.delete(output);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Polls a condition every 20 ms for at most a minute, and returns whether it was met. */
  public static boolean await(Callable<Boolean> done) throws Exception {
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    while (!done.call()) {
      if (System.nanoTime() - end > 0) {
        return false;
      }
      Thread.sleep(20);
    }
    return true;
  }

  /**
   * Returns one home for each JDK feature release from the given release on. Considers the running
   * JDK, the JDKs that {@code JDK_HOMES} lists (separated by colons), and those under /usr/lib/jvm.
   *
   * @throws AssertionError if a release in {@code REQUIRE_JDKS} (such as "17 25") is missing
   */
  public static List<Path> jdksSince(int feature) {
    return jdksSince(
        feature,
        Stream.concat(
                Stream.of(System.getProperty("java.home")),
                Stream.concat(
                    words("JDK_HOMES", ":"), files(Path.of("/usr/lib/jvm")).map(Path::toString)))
            .map(Path::of)
            .toList(),
        words("REQUIRE_JDKS", " +").map(Integer::valueOf).toList());
  }

  public static void printRow(Path home, boolean attached, Object... cells) {
    System.out.println(
        Stream.concat(
                Stream.of(
                    property(home, "IMPLEMENTOR") + " " + property(home, "JAVA_VERSION"),
                    attached ? "attached" : "preloaded"),
                Stream.of(cells).map(Object::toString))
            .collect(Collectors.joining(" | ", "| ", " |")));
  }

  private static String property(Path home, String name) {
    try {
      Properties release = new Properties();
      release.load(Files.newBufferedReader(home.resolve("release")));
      return release.getProperty(name, "").replace("\"", "");
    } catch (IOException e) {
      return "";
    }
  }

  public static List<Path> jdksBetween(int first, int last) {
    List<Path> later = jdksSince(last + 1);
    return jdksSince(first).stream().filter(home -> !later.contains(home)).toList();
  }

  /**
   * Returns the homes of the JDKs on which a test attaches the library, or preloads it if {@code
   * attached} is false. To save time, tests preload the library on JDKs older than {@link
   * #FIRST_ATTACHED}, and attach it on the other JDKs. Tests run both ways on all JDKs if {@code
   * -Dsoak.all=true} is set, or if one of the two groups is empty.
   */
  public static List<Path> jdksWith(boolean attached) {
    List<Path> older = jdksBetween(17, FIRST_ATTACHED - 1);
    List<Path> newer = jdksSince(FIRST_ATTACHED);
    if (Boolean.getBoolean("soak.all") || older.isEmpty() || newer.isEmpty()) {
      return jdksSince(17);
    }
    return attached ? newer : older;
  }

  static List<Path> jdksSince(int feature, List<Path> homes, List<Integer> required) {
    SortedMap<Integer, Path> found = new TreeMap<>();
    homes.forEach(home -> found.putIfAbsent(feature(home), home));
    for (int version : required) {
      if (!found.containsKey(version)) {
        throw new AssertionError("JDK " + version + " is required and not found in " + homes);
      }
    }
    return List.copyOf(found.tailMap(feature).values());
  }

  private static Stream<String> words(String variable, String separator) {
    String value = System.getenv().getOrDefault(variable, "");
    return Stream.of(value.split(separator)).filter(word -> !word.isEmpty());
  }

  private static Stream<Path> files(Path directory) {
    try (Stream<Path> files = Files.list(directory)) {
      return files.sorted().toList().stream();
    } catch (IOException e) {
      return Stream.of();
    }
  }

  private static int feature(Path home) {
    try (Stream<String> lines = Files.lines(home.resolve("release"))) {
      return lines
          .filter(line -> line.startsWith("JAVA_VERSION="))
          .mapToInt(line -> Integer.parseInt(line.replaceAll("\\D+(\\d+).*", "$1")))
          .findFirst()
          .orElse(0);
    } catch (IOException e) {
      return 0;
    }
  }
}
