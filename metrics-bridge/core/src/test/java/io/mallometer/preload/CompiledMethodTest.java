package io.mallometer.preload;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ChildJvm;
import io.mallometer.Mallometer;
import io.mallometer.internal.library.load.BundledLibrary;
import io.mallometer.model.CallSite;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.StackFrame;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the stacks of a compiler thread that uses much memory. The stacks must contain the method
 * that is being compiled.
 */
@Tag("process")
@Tag("any-jdk")
class CompiledMethodTest {

  /**
   * The test covers the JDKs from 17 to this one, and those from {@link #FIRST_OF_THE_NEXT} on. It
   * leaves out JDK 22 to 24, which do not describe the method that a compiler thread compiles.
   */
  private static final int LAST_OF_THE_FIRST = 21;

  private static final int FIRST_OF_THE_NEXT = 25;

  private static final int VARIABLES = 40;
  private static final int LOOPS = 45;

  @TempDir private static Path directory;

  @ParameterizedTest(name = "attached={0}")
  @ValueSource(booleans = {false, true})
  void theMethodThatTheCompilerSpendsMemoryOnIsNamed(boolean attached) throws Exception {
    List<Path> homes = new ArrayList<>(ChildJvm.jdksBetween(17, LAST_OF_THE_FIRST));
    homes.addAll(ChildJvm.jdksSince(FIRST_OF_THE_NEXT));
    homes.retainAll(ChildJvm.jdksWith(attached));
    for (Path home : homes) {
      String output =
          new ChildJvm()
              .java(home)
              .compilingFully()
              .timeout(Duration.ofMinutes(3))
              .preloadUnless(attached, BundledLibrary.extract(directory))
              .environment("MALLOMETER_SAMPLE_INTERVAL", "64k")
              .environment("MALLOMETER_OVERHEAD_TARGET", "off")
              .options("-XX:+UseSerialGC", "-XX:-DontCompileHugeMethods")
              .run(
                  Compiles.class,
                  directory.toString(),
                  Boolean.toString(attached),
                  Boolean.toString(Boolean.getBoolean("soak.all")))
              .output();
      ChildJvm.printRow(
          home,
          attached,
          "compilation",
          output
              .lines()
              .filter(line -> line.startsWith("compilation of") || line.startsWith("The JVM's"))
              .collect(Collectors.joining("; ")),
          "");

      assertThat(output)
          .as("%s%n%s", home, output)
          .containsPattern("compilation of Exploding\\.dear [1-9]\\d{7,}");
    }
  }

  /** Compiles a class with a method whose compilation takes C2 some 100 MB. */
  @BeforeAll
  static void compile() throws Exception {
    StringBuilder code = new StringBuilder("public class Exploding {\n");
    code.append("  public static long dear(long[] a, int n) {\n");
    for (int i = 0; i < VARIABLES; i++) {
      code.append("    long v%d = %d;%n".formatted(i, i));
    }
    for (int loop = 0; loop < LOOPS; loop++) {
      code.append("    for (int i = 0; i < n; i++) {\n");
      for (int k = 0; k < 8; k++) {
        int one = (7 * loop + k) % VARIABLES;
        int two = (5 * loop + 3 * k) % VARIABLES;
        code.append(
            "      v%d += v%d * a[(i + %d) & 255] + i; if ((v%d & %d) == 0) v%d ^= a[(int) (v%d & 255)];%n"
                .formatted(
                    one, two, k, (loop + k) % VARIABLES, k + 1, two, (11 * k + loop) % VARIABLES));
      }
      code.append("    }\n");
    }
    code.append("    return v0");
    for (int i = 1; i < VARIABLES; i++) {
      code.append(" + v").append(i);
    }
    code.append(";\n  }\n}\n");
    Path source = directory.resolve("Exploding.java");
    Files.writeString(source, code);
    int failed =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null, null, null, "--release", "17", "-d", directory.toString(), source.toString());
    assertThat(failed).isZero();
  }

  /**
   * Runs the method that takes long to compile, until the compiler has {@link #ENOUGH} memory. In
   * the soak, whose table has the finding, runs it until the diagnosis reports that memory. Gives
   * up after 90 s.
   */
  static final class Compiles {

    private static final double ENOUGH = 30e6;
    private static final double LEAST = 1e6;
    private static final long PAUSE_MILLIS = 200;
    private static final Duration LONGEST = Duration.ofSeconds(90);

    /**
     * The period of the diagnosis. A finding may come this long after the compiler's memory has
     * reached {@link #ENOUGH}.
     */
    private static final Duration DIAGNOSIS = Duration.ofSeconds(15);

    private Compiles() {}

    public static void main(String[] arguments) throws Exception {
      Duration diagnosis = Boolean.parseBoolean(arguments[2]) ? DIAGNOSIS : Duration.ZERO;
      Mallometer mallometer = Mallometer.open();
      if (Boolean.parseBoolean(arguments[1])) {
        mallometer.counting().attach();
      }
      mallometer.poll();
      URL[] classes = {Path.of(arguments[0]).toUri().toURL()};
      Method dear =
          new URLClassLoader(classes)
              .loadClass("Exploding")
              .getMethod("dear", long[].class, int.class);
      Thread work =
          new Thread(
              () -> {
                try {
                  while (true) {
                    dear.invoke(null, new long[256], 40);
                    // The interpreter runs the method until it is compiled. Pauses leave the CPU
                    // time to the compiler.
                    TimeUnit.MILLISECONDS.sleep(1);
                  }
                } catch (ReflectiveOperationException | InterruptedException e) {
                  e.printStackTrace();
                }
              });
      work.setDaemon(true);
      work.start();
      Map<String, Double> most = new HashMap<>();
      long end = System.nanoTime() + LONGEST.toNanos();
      Optional<String> finding = Optional.empty();
      while (System.nanoTime() < end && finding.isEmpty()) {
        Map<String, Double> live = new HashMap<>();
        for (CallSite site : mallometer.sites().read().sites()) {
          if (isCompilation(site.frames())) {
            live.merge(site.name(), site.liveBytes().value(), Double::sum);
          }
        }
        live.forEach((name, bytes) -> most.merge(name, bytes, Math::max));
        if (most.values().stream().anyMatch(bytes -> bytes > ENOUGH)) {
          end = Math.min(end, System.nanoTime() + diagnosis.toNanos());
        }
        finding =
            mallometer.poll().diagnosis().findings().stream()
                .map(Diagnosis.Finding::text)
                .filter(text -> text.startsWith("The JVM's compiler"))
                .findFirst();
        // Pauses, because a reading takes CPU time from the compiler.
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      }
      finding.ifPresent(System.out::println);
      most.values().removeIf(bytes -> bytes < LEAST);
      most.forEach((name, bytes) -> System.out.println(name + " " + Math.round(bytes)));
      System.exit(0);
    }

    private static boolean isCompilation(List<StackFrame> frames) {
      return !frames.isEmpty() && frames.get(0).kind() == StackFrame.Kind.COMPILED;
    }
  }
}
