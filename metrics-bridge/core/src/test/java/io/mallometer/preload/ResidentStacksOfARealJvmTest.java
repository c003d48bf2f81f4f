package io.mallometer.preload;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ChildJvm;
import io.mallometer.internal.library.load.BundledLibrary;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that memory is attributed to the line of Java code that maps it through a foreign function,
 * as long as the memory is mapped.
 */
@Tag("process")
class ResidentStacksOfARealJvmTest {

  private static final String CLASS = "io.mallometer.preload.MapsMemory.";
  private static final String BY_RULES = "rules tell the JVM's kinds of memory";

  /**
   * The offsets in bytes of two fields of an ELF file's header: {@code e_shoff} (where the section
   * headers are) and {@code e_shnum} (how many there are).
   */
  private static final int SECTIONS_OFFSET = 40;

  private static final int SECTIONS_COUNT = 60;

  /** The tolerance in bytes, for pages that the JVM touches or gives back during a reading. */
  private static final long SLACK = 4L << 20;

  @TempDir private Path directory;

  @Test
  @Tag("any-jdk")
  void theLineThatMappedHasTheMemory() throws Exception {
    String output =
        child()
            .preload(BundledLibrary.extract(directory))
            .environment("MALLOMETER_STACKS", "java")
            .run(MapsMemory.class)
            .output();

    assertNamed("mapMemory", output);
    assertThat(bytes(moment("mapped", output), line -> line.startsWith("[unexplained]")))
        .as(output)
        .isLessThan(number("kernel's least mapped", output) / 50);
    assertThat(moment("mapped", output))
        .as("the map of the code heap's segments")
        .anyMatch(line -> line.startsWith("[code_cache]") && line.contains("!CodeHeap::reserve"));
    assertThat(output).doesNotContain(BY_RULES);
  }

  /**
   * A library without section headers has no .symtab, like a stripped one, so only its exported
   * functions have names.
   */
  @Test
  @Tag("any-jdk")
  void withoutSymbolsOfTheJvmRulesTellItsKinds() throws Exception {
    Path jdk = withoutSymbols(Path.of(System.getProperty("java.home")));

    String output =
        child()
            .java(jdk)
            .preload(BundledLibrary.extract(directory))
            .environment("MALLOMETER_STACKS", "java")
            .run(MapsMemory.class)
            .output();

    removeLinks(jdk);
    List<String> mapped = moment("mapped", output);
    assertThat(output).contains(BY_RULES);
    assertThat(mapped).noneMatch(line -> line.contains("!CodeHeap") || line.contains("!os::"));
    for (String kind : List.of("java_heap", "metaspace", "code_cache", "gc_and_jvm")) {
      assertThat(bytes(mapped, line -> line.startsWith("[" + kind + "]"))).as(kind).isPositive();
    }
    assertThat(bytes(mapped, line -> line.startsWith("[unexplained]")))
        .as(output)
        .isLessThan(number("kernel's least mapped", output) / 50);
  }

  /**
   * Returns a directory with links to the files of a JDK. Only libjvm.so is a copy, and it has no
   * section headers.
   */
  private Path withoutSymbols(Path jdk) throws IOException {
    Path copy = directory.resolve("jdk");
    linkAll(jdk, copy, "lib", "bin");
    linkAll(jdk.resolve("bin"), copy.resolve("bin"), "java");
    linkAll(jdk.resolve("lib"), copy.resolve("lib"), "server", "libjli.so");
    linkAll(jdk.resolve("lib/server"), copy.resolve("lib/server"), "libjvm.so");
    for (String file : List.of("bin/java", "lib/libjli.so", "lib/server/libjvm.so")) {
      Files.copy(jdk.resolve(file), copy.resolve(file));
    }
    try (RandomAccessFile file =
        new RandomAccessFile(copy.resolve("lib/server/libjvm.so").toFile(), "rw")) {
      file.seek(SECTIONS_OFFSET);
      file.writeLong(0);
      file.seek(SECTIONS_COUNT);
      file.writeShort(0);
    }
    return copy;
  }

  /** Removes the links, about which JUnit would warn. */
  private static void removeLinks(Path jdk) throws IOException {
    try (Stream<Path> files = Files.walk(jdk)) {
      for (Path link : files.filter(Files::isSymbolicLink).toList()) {
        Files.delete(link);
      }
    }
  }

  private static void linkAll(Path from, Path to, String... others) throws IOException {
    Files.createDirectories(to);
    try (DirectoryStream<Path> files = Files.newDirectoryStream(from)) {
      for (Path file : files) {
        if (!List.of(others).contains(file.getFileName().toString())) {
          Files.createSymbolicLink(to.resolve(file.getFileName()), file);
        }
      }
    }
  }

  @Test
  @EnabledForJreRange(min = JRE.JAVA_22)
  void theLineThatMappedByTheLinkerHasTheMemory() throws Exception {
    ChildJvm preloaded = child().preload(BundledLibrary.extract(directory));

    assertNamed("mapLinked", linked(preloaded).run(MapsMemory.class, "linker").output());
    assertNamed("mapLinked", linked(child()).run(MapsMemory.class, "linker", "attach").output());
  }

  private static ChildJvm linked(ChildJvm child) {
    return child
        .environment("MALLOMETER_STACKS", "java")
        .options("--enable-native-access=ALL-UNNAMED");
  }

  @Test
  @Tag("any-jdk")
  void afterAnAttachTheLineHasTheMemoryAndTheRestIsFromBefore() {
    String output = child().run(MapsMemory.class, "attach").output();

    assertNamed("mapMemory", output);
    assertThat(output).contains("detached and mapped true");
    assertThat(output.lines().filter(line -> line.equals("attach ACTIVE"))).as(output).hasSize(19);
    List<String> mapped = moment("mapped", output);
    assertThat(bytes(mapped, line -> line.contains("[mapped before"))).as(output).isPositive();
    // Lines that begin with "[mapped before" are memory of unknown kind. There may be none, so only
    // an upper limit is checked.
    assertThat(bytes(mapped, line -> line.startsWith("[mapped before")))
        .as(output)
        .isLessThan(number("kernel's least mapped", output) / 10);
  }

  private static ChildJvm child() {
    return new ChildJvm().options("-Xmx64m").timeout(Duration.ofSeconds(180));
  }

  private static void assertNamed(String method, String output) {
    Predicate<String> ofLine = line -> line.contains(CLASS + method) && !line.startsWith("[malloc");
    assertThat(bytes(moment("before", output), ofLine)).as(output).isZero();
    assertThat(bytes(moment("mapped", output), ofLine))
        .as(output)
        .isBetween(MapsMemory.BYTES - SLACK, MapsMemory.BYTES + SLACK);
    assertThat(bytes(moment("unmapped", output), ofLine)).as(output).isZero();
    // The reading after the start is left out, because the JVM loads classes meanwhile.
    for (String moment : List.of("mapped", "unmapped")) {
      long least = number("kernel's least " + moment, output);
      long most = number("kernel's most " + moment, output);
      assertThat(bytes(moment(moment, output), line -> true))
          .as(output)
          .isBetween(least - least / 100 - SLACK, most + most / 100 + SLACK);
    }
  }

  private static List<String> moment(String name, String output) {
    String after = output.substring(output.indexOf("== " + name));
    int end = after.indexOf("\n==", 1);
    return Arrays.stream((end < 0 ? after : after.substring(0, end)).split("\n"))
        .skip(1)
        .filter(line -> line.startsWith("["))
        .toList();
  }

  private static long number(String name, String output) {
    return Long.parseLong(output.replaceAll("(?s).*" + name + " (\\d+).*", "$1"));
  }

  private static long bytes(List<String> lines, Predicate<String> wanted) {
    return lines.stream()
        .filter(wanted)
        .mapToLong(line -> Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }
}
