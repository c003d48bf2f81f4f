package io.mallometer.internal.process;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A JVM in which a test checks the parts of the resident set.
 *
 * @param collector the collector, by its name in {@code -XX:+Use...GC}
 * @param tracking whether native memory tracking is on
 * @param preload whether the library is preloaded
 * @param more another option; empty if there is none
 */
record Jvm(Path jdk, String collector, boolean tracking, boolean preload, String more) {

  private static final List<String> COLLECTORS =
      List.of("G1", "Z", "Serial", "Parallel", "Shenandoah");

  private static final List<String> VARIANTS =
      List.of(
          "-XX:+UseTransparentHugePages",
          "-XX:-UseCompressedClassPointers",
          "-Xshare:off",
          "-Xms256m",
          "-XX:+UseCompactObjectHeaders");

  static Stream<Jvm> few(Path jdk) {
    return Stream.of(
        new Jvm(jdk, "G1", false, false, ""),
        new Jvm(jdk, "G1", true, true, "-Xshare:off"),
        new Jvm(jdk, "Z", true, false, "-XX:-UseCompressedClassPointers"),
        new Jvm(jdk, "Serial", false, true, "-XX:+UseTransparentHugePages"));
  }

  static Stream<Jvm> rounds(Path jdk, int rounds) {
    return COLLECTORS.stream().flatMap(collector -> turns(jdk, collector, "", rounds).stream());
  }

  static Stream<Jvm> combinations(Path jdk) {
    return COLLECTORS.stream()
        .flatMap(
            collector ->
                VARIANTS.stream().flatMap(variant -> turns(jdk, collector, variant, 4).stream()));
  }

  /** Returns an empty list if this JDK does not start with the options. */
  private static List<Jvm> turns(Path jdk, String collector, String more, int number) {
    return new Jvm(jdk, collector, false, false, more).exists()
        ? IntStream.range(0, number)
            .mapToObj(i -> new Jvm(jdk, collector, i % 2 == 1, i / 2 % 2 == 1, more))
            .toList()
        : List.of();
  }

  String kind() {
    return (jdk.getFileName() + " " + collector + " " + more).strip();
  }

  @Override
  public String toString() {
    return kind() + (tracking ? ", tracked" : "") + (preload ? ", preloaded" : "");
  }

  String[] options() {
    List<String> options = new ArrayList<>();
    options.add("-XX:+Use" + collector + "GC");
    options.add("-XX:NativeMemoryTracking=" + (tracking ? "summary" : "off"));
    if (!more.isEmpty()) {
      options.add(more);
    }
    return options.toArray(String[]::new);
  }

  boolean classSpace() {
    return !more.equals("-XX:-UseCompressedClassPointers");
  }

  /**
   * Returns the parts that contain malloc's memory. With native memory tracking, these include the
   * JVM's own part.
   */
  List<String> partsOfMalloc() {
    return tracking
        ? List.of("malloc", "malloc_live", "malloc_retained", "gc_and_jvm")
        : List.of("malloc", "malloc_live", "malloc_retained");
  }

  private boolean exists() {
    List<String> command = new ArrayList<>();
    command.add(jdk.resolve("bin/java").toString());
    command.addAll(List.of(options()));
    command.add("-version");
    try {
      return new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start()
              .waitFor()
          == 0;
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
