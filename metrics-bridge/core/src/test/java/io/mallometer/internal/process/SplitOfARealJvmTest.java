package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ChildJvm;
import io.mallometer.internal.library.load.BundledLibrary;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that each kind of memory that a program allocates appears in the right part of the resident
 * set.
 *
 * <p>By default the program runs in a few JVMs. {@code -Dsoak.rounds=N} runs it N times with each
 * JDK and collector. {@code -Dsoak.combinations=true} adds runs with options that change where
 * memory is allocated.
 */
@Tag("process")
@Tag("any-jdk")
class SplitOfARealJvmTest {

  /**
   * The tolerance in bytes. Some MiB that the JVM allocated for itself but never touched may count
   * as resident. Another part of the resident set then lacks these bytes.
   */
  private static final long SLACK = 6L << 20;

  /**
   * The most bytes of a collector's structures for a heap of 256 MiB: two bitmaps (1/64 of the heap
   * each), four tables (1/512 each), and 4 MiB of others.
   */
  private static final long TABLES_OF_256_MIB = 14L << 20;

  /**
   * Switches the JIT compilers off, because they allocate and free up to ten MiB by malloc at any
   * time.
   */
  private static final String WITHOUT_COMPILERS = "-Xint";

  @TempDir private Path directory;

  private static final Map<String, int[]> TABLE = new TreeMap<>();

  static Stream<Jvm> jvms() {
    int rounds = Integer.getInteger("soak.rounds", 0);
    boolean combinations = Boolean.getBoolean("soak.combinations");
    return jdks()
        .flatMap(
            jdk ->
                rounds == 0 && !combinations
                    ? Jvm.few(jdk)
                    : Stream.concat(
                        Jvm.rounds(jdk, rounds),
                        combinations ? Jvm.combinations(jdk) : Stream.of()));
  }

  static Stream<Path> jdks() {
    return ChildJvm.jdksSince(17).stream().map(SplitOfARealJvmTest::realPath).distinct();
  }

  @AfterAll
  static void printTable() {
    if (TABLE.values().stream().mapToInt(counts -> counts[0]).sum() > 20) {
      System.out.println("started  right  of");
      TABLE.forEach(
          (kind, counts) -> System.out.printf("%7d %6d  %s%n", counts[0], counts[1], kind));
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("jvms")
  void everyKindLandsInItsPart(Jvm jvm) throws Exception {
    int[] counts = TABLE.computeIfAbsent(jvm.kind(), kind -> new int[2]);
    counts[0]++;
    assertEveryKindLandsInItsPart(jvm, run(jvm, WITHOUT_COMPILERS, directory.toString()));
    counts[1]++;
  }

  private static void assertEveryKindLandsInItsPart(Jvm jvm, String output) {
    Map<String, Map<String, Long>> growth = parse(output);

    // The heap may reuse pages that garbage made resident, and the collector may copy objects.
    assertThat(growth.get("heap").get("java_heap"))
        .as(output)
        .isBetween(Holdings.HEAP / 2L, Holdings.HEAP * 3L / 2);
    assertGrowth(growth, "direct", List.of("direct_buffers"), Holdings.DIRECT, output);
    List<String> malloc = jvm.partsOfMalloc();
    assertGrowth(growth, "small objects", malloc, Holdings.SMALL_OBJECTS, output);
    assertGrowth(growth, "large object", malloc, Holdings.LARGE_OBJECT, output);
    assertGrowth(growth, "hidden object", malloc, Holdings.LARGE_OBJECT, output);
    assertGrowth(growth, "file", List.of("mapped_files"), Holdings.FILE, output);
    assertGrowth(growth, "shared", List.of("shared_memory"), Holdings.SHARED, output);
    assertThat(growth.get("threads").get("thread_stacks"))
        .as(output)
        .isBetween(60L * 100_000, 60L << 20);
    assertForeign(growth, output);
    assertMetadata(jvm, growth, output);
    assertCode(growth, output);
    if (jvm.preload()) {
      assertCounted(growth, output);
    }
    assertAddsUp(growth.get("all"), output);
    assertThat(output)
        .contains("tracking=" + jvm.tracking() + " by=" + (jvm.preload() ? "frames" : "rules"));
  }

  private String run(Jvm jvm, String mode, String... arguments) throws IOException {
    ChildJvm child =
        new ChildJvm()
            .java(jvm.jdk())
            .compilingFully()
            .options("-Xmx256m", mode)
            .options(jvm.options());
    if (jvm.preload()) {
      child.preload(BundledLibrary.extract(directory.resolve("library")));
    }
    return child.run(Holdings.class, arguments).output();
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void compiledCodeLandsInTheCodeCache(Path jdk) throws Exception {
    String output = run(new Jvm(jdk, "G1", false, false, ""), "-Xmixed");

    assertThat(assertCode(parse(output), output)).as(output).isGreaterThan(3L << 19);
  }

  private static long assertCode(Map<String, Map<String, Long>> growth, String output) {
    long resident = growth.get("all").get("code_cache");
    Map<String, Long> pools = growth.get("code");
    assertThat(resident)
        .as(output)
        .isBetween(pools.get("used") * 3 / 4, pools.get("committed") + (1L << 20));
    return resident;
  }

  /**
   * Asserts that foreign memory appears as unexplained. Neither malloc nor the JVM allocated it,
   * but a part may be mistaken for the JVM's tables.
   */
  private static void assertForeign(Map<String, Map<String, Long>> growth, String output) {
    assertGrowth(growth, "foreign", List.of("unexplained", "gc_and_jvm"), Holdings.FOREIGN, output);
    assertThat(growth.get("foreign").get("unexplained"))
        .as(output)
        .isGreaterThan(Holdings.FOREIGN - TABLES_OF_256_MIB - SLACK);
  }

  private static void assertMetadata(
      Jvm jvm, Map<String, Map<String, Long>> growth, String output) {
    Map<String, Long> classes = growth.get("classes");
    assertThat(classes.get("metaspace")).as(output).isBetween(4L << 20, 40L << 20);
    if (jvm.classSpace()) {
      assertThat(classes.get("class_space")).as(output).isBetween(1L << 20, 10L << 20);
    } else {
      assertThat(classes).doesNotContainKey("class_space");
    }
  }

  private static void assertCounted(Map<String, Map<String, Long>> growth, String output) {
    assertGrowth(growth, "small objects", List.of("malloc_live"), Holdings.SMALL_OBJECTS, output);
    assertGrowth(growth, "large object", List.of("malloc_live"), Holdings.LARGE_OBJECT, output);
    assertGrowth(growth, "freed", List.of("malloc_live"), -Holdings.SMALL_OBJECTS, output);
    assertGrowth(growth, "freed", List.of("malloc_retained"), Holdings.SMALL_OBJECTS, output);
    assertThat(growth.get("all").get("mallometer")).as(output).isBetween(10_000L, 8L << 20);
  }

  private static void assertGrowth(
      Map<String, Map<String, Long>> growth,
      String kind,
      List<String> parts,
      long expected,
      String output) {
    Map<String, Long> grown = growth.getOrDefault(kind, Map.of());
    long sum = parts.stream().mapToLong(part -> grown.getOrDefault(part, 0L)).sum();
    assertThat(sum)
        .as(() -> kind + " in " + parts + "\n" + output)
        .isBetween(expected - SLACK, expected + SLACK);
  }

  private static void assertAddsUp(Map<String, Long> all, String output) {
    long total = Long.parseLong(output.replaceAll("(?s).*\ntotal=(\\d+).*", "$1"));
    assertThat(all.values().stream().mapToLong(Long::longValue).sum()).isEqualTo(total);
    assertThat(all.get("unexplained")).as(output).isBetween(0L, total * 3 / 100);
  }

  private static Map<String, Map<String, Long>> parse(String output) {
    Map<String, Map<String, Long>> all = new HashMap<>();
    for (String line : output.split("\n")) {
      String[] kind = line.split(": ", 2);
      if (kind.length == 2 && kind[1].matches("([a-z_]+=-?\\d+ ?)+")) {
        Map<String, Long> parts = new HashMap<>();
        for (String part : kind[1].split(" ")) {
          parts.put(part.split("=")[0], Long.parseLong(part.split("=")[1]));
        }
        all.put(kind[0], parts);
      }
    }
    return all;
  }

  private static Path realPath(Path path) {
    try {
      return path.toRealPath();
    } catch (IOException e) {
      return path;
    }
  }
}
