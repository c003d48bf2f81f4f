package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ChildJvm;
import io.mallometer.Mallometer;
import io.mallometer.internal.library.load.BundledLibrary;
import io.mallometer.model.CallSite;
import io.mallometer.model.ClassLoaders;
import io.mallometer.model.ClassLoaders.Kind;
import io.mallometer.model.Estimate;
import io.mallometer.model.StackFrame;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LoaderStatisticsTest {

  private static final String TEXT =
      """
      ClassLoader         Parent              CLD*               Classes   ChunkSz   BlockSz  Type
      0x0000000000000001  0x0000000000000002  0x0000000000000003     100      2048      1000  a.Plugins
                                                                      20      1024       500   + hidden classes
      0x0000000000000004  0x0000000000000002  0x0000000000000003      50      2048       800  a.Plugins
      0x0000000000000000  0x0000000000000000  0x0000000000000005     484    557056      9219  <boot class loader>
      Total = 3                                                      654    562176     11519
      ChunkSz: Total size of all allocated metaspace chunks
      """;

  @TempDir private Path directory;
  private int classes = 20_000;
  private long nanos;
  private long cost = 1_000_000;
  private int runs;
  private List<CallSite> sites = List.of();

  @Test
  void loadersOfOneClassAreTogetherWithTheirHiddenClasses() {
    assertThat(LoaderStatistics.parse(TEXT, OptionalLong.of(11_519)))
        .containsExactly(
            new Kind("boot class loader", 1, 484, 9_219), new Kind("a.Plugins", 2, 170, 2_300));
  }

  @Test
  void wordsAreToldFromBytesByTheMetaspaceInUse() {
    assertThat(LoaderStatistics.parse(TEXT, OptionalLong.of(90_000)))
        .contains(new Kind("a.Plugins", 2, 170, 2_300 * 8));
    assertThat(LoaderStatistics.parse(TEXT, OptionalLong.empty()))
        .contains(new Kind("a.Plugins", 2, 170, 2_300));
  }

  @Test
  void garbageIsNoLoader() {
    assertThat(LoaderStatistics.parse("", OptionalLong.empty())).isEmpty();
    assertThat(
            LoaderStatistics.parse("java.lang.SecurityException: no\n0x1 0x2", OptionalLong.of(1)))
        .isEmpty();
    assertThat(LoaderStatistics.parse(TEXT.substring(0, 150), OptionalLong.of(1))).isEmpty();
  }

  @Test
  void aPauseAboveTheBudgetIsRefusedWithTheReason() {
    assertThat(reader().read().reason()).isEmpty();
    classes = 20_001;
    assertThat(reader().read().reason())
        .isEqualTo(
            "20,001 classes and their loaders may stop the program for 20 ms, and the budget is"
                + " 20 ms");
    assertThat(runs).isEqualTo(1);
  }

  @Test
  void allCallersShareAResultForHalfAMinute() {
    LoaderStatistics reader = reader();
    ClassLoaders first = reader.read();
    nanos += 29_000_000_000L;
    assertThat(reader.read()).isSameAs(first);
    nanos += 2_000_000_000L;
    assertThat(reader.read()).isNotSameAs(first);
    assertThat(runs).isEqualTo(2);
  }

  @Test
  void aMeasuredReadingReplacesTheAssumptionForTheClassesThatItRead() {
    LoaderStatistics reader = reader();
    reader.read();
    classes = 29_000;
    nanos += 30_000_000_000L;
    assertThat(reader.read().reason()).isEmpty();
    classes = 53_000;
    nanos += 30_000_000_000L;
    assertThat(reader.read().reason()).contains("25 ms");
  }

  @Test
  void aReadingAboveTheBudgetIsNotRepeatedForAnHour() {
    LoaderStatistics reader = reader();
    cost = 55_000_000;
    assertThat(reader.read().seconds()).isEqualTo(0.055);
    nanos += 30_000_000_000L;
    assertThat(reader.read().reason()).contains("55 ms as at the last reading");
    nanos += 3_600_000_000_000L;
    assertThat(reader.read().reason()).isEmpty();
    assertThat(runs).isEqualTo(2);
  }

  private LoaderStatistics reader() {
    return new LoaderStatistics(
        Clock.systemUTC(),
        () -> nanos,
        () -> nanos,
        () -> classes,
        () -> {
          runs++;
          nanos += cost;
          return TEXT;
        },
        () -> sites);
  }

  @Test
  void theLineWithTheHighestRateOfDefinitionsIsTold() {
    CallSite early = site("a.Launcher.start", 9e6, 0);
    CallSite now = site("a.Plugins.load", 2e6, 700);
    CallSite again = site("a.Plugins.load", 2e6, 400);
    CallSite less = site("a.Scripts.run", 3e6, 900);
    CallSite other =
        sized(
            "a.Buffers.take",
            List.of(StackFrame.ofJava("a.Buffers", "take", "B.java", 1)),
            9e9,
            9e6);

    assertThat(LoaderStatistics.definer(List.of())).isEmpty();
    assertThat(LoaderStatistics.definer(List.of(other))).isEmpty();
    assertThat(LoaderStatistics.definer(List.of(other, early, now, less, again)))
        .isEqualTo("Plugins.load (Some.java:31)");
    assertThat(
            LoaderStatistics.definer(
                List.of(site("a.B.c", 1e6, Double.NaN), site("a.D.e", 2e6, Double.NaN))))
        .isEqualTo("D.e (Some.java:31)");
  }

  @Test
  void theLineIsToldAlsoWhereTheLoadersAreNotRead() {
    sites = List.of(site("a.Plugins.load", 2e6, 700));
    classes = 30_000;

    assertThat(reader().read().sentence())
        .isEqualTo(
            "Class loaders were not read: 30,000 classes and their loaders may stop the program for"
                + " 30 ms, and the budget is 20 ms; Plugins.load (Some.java:31) defines most.");
  }

  /** Returns a site whose stack contains the JDK's method that defines a class. */
  private static CallSite site(String name, double allocated, double rate) {
    int dot = name.lastIndexOf('.');
    return sized(
        name,
        List.of(
            StackFrame.ofLibrary("libjvm.so", "AllocateHeap", 1),
            StackFrame.ofJava("java.lang.ClassLoader", "defineClass1", "ClassLoader.java", 0),
            StackFrame.ofJava(name.substring(0, dot), name.substring(dot + 1), "Some.java", 31)),
        allocated,
        rate);
  }

  private static CallSite sized(
      String name, List<StackFrame> frames, double allocated, double rate) {
    Estimate bytes = new Estimate(allocated, 0, 10);
    return new CallSite(
        1,
        frames,
        name,
        "libjvm.so",
        10,
        bytes,
        bytes,
        bytes,
        bytes,
        rate,
        60,
        CallSite.Ages.UNKNOWN);
  }

  @Test
  void manyLoadersOfAClassEachAreTold() {
    Kind scripts = new Kind("a.Script", 3_000, 3_001, 5 << 20);
    ClassLoaders loaders = new ClassLoaders(Instant.EPOCH, 0.01, List.of(scripts), "", "");

    assertThat(scripts.oneClassEach()).isTrue();
    assertThat(new Kind("a.Plugins", 2, 10_000, 1).oneClassEach()).isFalse();
    assertThat(loaders.sentence())
        .isEqualTo(
            "Class metadata: 3,001 classes of 3,000 a.Script (5.0 MiB, a loader for each class).");
  }

  @ParameterizedTest(name = "attached={0}")
  @ValueSource(booleans = {false, true})
  @Tag("process")
  @Tag("any-jdk")
  void tenThousandClassesInTwoLoadersAreTold(boolean attached) throws IOException {
    for (Path home : ChildJvm.jdksWith(attached)) {
      String output =
          new ChildJvm()
              .java(home)
              .preloadUnless(attached, BundledLibrary.extract(directory))
              .environment("MALLOMETER_OVERHEAD_TARGET", "off")
              .run(Loads.class)
              .output();
      String[] planted =
          output
              .lines()
              .filter(line -> line.contains("Planted,"))
              .findFirst()
              .orElseThrow(() -> new AssertionError(home + output))
              .split(",");
      double used =
          Double.parseDouble(
              output
                  .lines()
                  .filter(line -> line.startsWith("used="))
                  .findFirst()
                  .get()
                  .substring(5));
      double seconds = Double.parseDouble(output.replaceAll("(?s).*seconds=(\\S+).*", "$1"));
      assertThat(seconds).isBetween(0.0002, 10.0); // The machine may be busy.
      ChildJvm.printRow(
          home,
          attached,
          "classes",
          output.replaceAll("(?s).*seconds=\\S+ (Class[^\n]*).*", "$1"),
          "safepoint and wait %.1f ms".formatted(seconds * 1e3));
      assertThat(planted[1]).isEqualTo("2");
      assertThat(planted[2]).isEqualTo("10000");
      assertThat(Double.parseDouble(planted[3])).isBetween(0.6 * used, 1.05 * used);
      assertThat(output)
          .containsPattern(
              "; LoaderStatisticsTest\\$Planted\\.define \\(LoaderStatisticsTest\\.java:\\d+\\) defines");
    }
  }

  /** Defines 5,000 copies of a small class, under different names, in each of two loaders. */
  static final class Loads {

    private static final int CLASSES = 5_000;

    private Loads() {}

    public static void main(String[] arguments) throws Exception {
      Mallometer mallometer = Mallometer.open();
      mallometer.counting().attach();
      byte[] code;
      try (InputStream in = Small.class.getResourceAsStream("LoaderStatisticsTest$Small.class")) {
        code = in.readAllBytes();
      }
      List<Planted> loaders = List.of(new Planted(), new Planted());
      long before = used();
      for (int i = 0; i < CLASSES; i++) {
        for (Planted loader : loaders) {
          loader.define(renamed(code, i));
        }
      }
      System.out.println("used=" + (used() - before));
      ClassLoaders read = mallometer.classLoaders();
      System.out.println("seconds=" + read.seconds() + " " + read.sentence());
      for (Kind kind : read.kinds()) {
        System.out.println(
            kind.loader()
                + ","
                + kind.loaders()
                + ","
                + kind.classes()
                + ","
                + kind.metadataBytes());
      }
      System.out.println("kept " + loaders.size());
      System.exit(0);
    }

    private static long used() {
      return ManagementFactory.getMemoryPoolMXBeans().stream()
          .filter(pool -> pool.getName().equals("Metaspace"))
          .mapToLong(pool -> pool.getUsage().getUsed())
          .sum();
    }

    /**
     * Replaces "Small" in the name of the class by a number of five digits, so that the length of
     * the name stays the same.
     */
    private static byte[] renamed(byte[] code, int number) {
      String text = new String(code, StandardCharsets.ISO_8859_1);
      return text.replace(
              "LoaderStatisticsTest$Small", "LoaderStatisticsTest$%05d".formatted(number))
          .getBytes(StandardCharsets.ISO_8859_1);
    }
  }

  private static final class Planted extends ClassLoader {

    Planted() {
      super(LoaderStatisticsTest.class.getClassLoader());
    }

    void define(byte[] code) {
      defineClass(null, code, 0, code.length);
    }
  }

  static final class Small {

    int number;

    int next() {
      return ++number;
    }
  }
}
