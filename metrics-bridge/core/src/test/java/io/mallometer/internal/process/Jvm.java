package io.mallometer.internal.process;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * How a JVM is started to see whether its memory lands in its parts.
 *
 * @param jdk its home
 * @param collector as in {@code -XX:+Use...GC}
 * @param tracking whether native memory tracking is on
 * @param preload whether the library counts
 * @param more further options; empty or one
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

  /** What differs most, for a test that must not take long. */
  static Stream<Jvm> few(Path jdk) {
    return Stream.of(
        new Jvm(jdk, "G1", false, false, ""),
        new Jvm(jdk, "G1", true, true, "-Xshare:off"),
        new Jvm(jdk, "Z", true, false, "-XX:-UseCompressedClassPointers"),
        new Jvm(jdk, "Serial", false, true, "-XX:+UseTransparentHugePages"));
  }

  /** A number of each collector, tracked and preloaded in turns. */
  static Stream<Jvm> rounds(Path jdk, int rounds) {
    return COLLECTORS.stream().flatMap(collector -> turns(jdk, collector, "", rounds).stream());
  }

  /** Each collector with each of the other options, tracked or not, preloaded or not. */
  static Stream<Jvm> combinations(Path jdk) {
    return COLLECTORS.stream()
        .flatMap(
            collector ->
                VARIANTS.stream().flatMap(variant -> turns(jdk, collector, variant, 4).stream()));
  }

  /** None if this JDK does not start like that. */
  private static List<Jvm> turns(Path jdk, String collector, String more, int number) {
    return new Jvm(jdk, collector, false, false, more).exists()
        ? IntStream.range(0, number)
            .mapToObj(i -> new Jvm(jdk, collector, i % 2 == 1, i / 2 % 2 == 1, more))
            .toList()
        : List.of();
  }

  /** The JDK, the collector and the further option. */
  String kind() {
    return (jdk.getFileName() + " " + collector + " " + more).strip();
  }

  @Override
  public String toString() {
    return kind() + (tracking ? ", tracked" : "") + (preload ? ", preloaded" : "");
  }

  /** The options of the command line. */
  String[] options() {
    List<String> options = new ArrayList<>();
    options.add("-XX:+Use" + collector + "GC");
    options.add("-XX:NativeMemoryTracking=" + (tracking ? "summary" : "off"));
    if (!more.isEmpty()) {
      options.add(more);
    }
    return options.toArray(String[]::new);
  }

  /** Whether there is a compressed class space. */
  boolean classSpace() {
    return !more.equals("-XX:-UseCompressedClassPointers");
  }

  /** Where malloc's memory is: what the JVM itself uses of it moves if it is tracked. */
  List<String> partsOfMalloc() {
    return tracking
        ? List.of("malloc", "malloc_live", "malloc_retained", "gc_and_jvm")
        : List.of("malloc", "malloc_live", "malloc_retained");
  }

  /** Whether this JDK starts with these options. */
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
