package io.mallometer;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Tests that each package depends only on lower layers, and that no package that publishes metrics
 * (a face, such as JMX) depends on another face.
 */
@AnalyzeClasses(packages = "io.mallometer", importOptions = ImportOption.DoNotIncludeTests.class)
@ArchTag("any-jdk")
class ArrowsTest {

  private static final String ROOT = "io.mallometer";

  private static final String INTERNAL = ROOT + ".internal";

  private static final List<String> LAYERS =
      List.of(
          INTERNAL + ".text",
          ROOT + ".model",
          ROOT + ".meter",
          ROOT + ".report",
          INTERNAL + ".symbol",
          INTERNAL + ".leak.evidence",
          INTERNAL + ".library",
          INTERNAL + ".library.abi",
          INTERNAL + ".library.load",
          INTERNAL + ".process",
          INTERNAL + ".history",
          INTERNAL + ".leak",
          INTERNAL + ".owner",
          INTERNAL + ".pool",
          INTERNAL + ".monitor",
          INTERNAL + ".diagnosis",
          INTERNAL + ".engine",
          ROOT);

  private static final List<String> FACES =
      List.of(
          ROOT + ".jfr",
          ROOT + ".jmx",
          ROOT + ".micrometer",
          ROOT + ".page",
          ROOT + ".prometheus",
          ROOT + ".push",
          ROOT + ".view");

  /** The packages on which a face (a package that publishes metrics, such as JMX) may depend. */
  private static final List<String> SHOWN =
      List.of(ROOT, INTERNAL + ".text", ROOT + ".model", ROOT + ".meter", ROOT + ".report");

  private static final String ROW = "a row of a table that a face shows, with a column for each";
  private static final String COUNTS = "counts that are read at one moment and shown side by side";

  /** The classes whose constructors may have more than eight parameters, each with the reason. */
  private static final Map<String, String> READ_IN_ONE_BREATH =
      Map.ofEntries(
          Map.entry("Account$Row", ROW),
          Map.entry("AllocatorStatistics", COUNTS),
          Map.entry("CallSite", ROW),
          Map.entry("CgroupMemory", COUNTS),
          Map.entry("Component", "the columns of the reference page"),
          Map.entry("Diagnosis", "what the page says first, in the order of its sentences"),
          Map.entry("HistoryPoint", ROW),
          Map.entry("Mapping", "the figures of one block of smaps"),
          Map.entry("NativeCounters", COUNTS),
          Map.entry("OwnerReport", "what one search found, in the order of its report"),
          Map.entry("ResidentMemory", COUNTS),
          Map.entry("ScopeCounts", COUNTS),
          Map.entry("SelfReport", COUNTS),
          Map.entry("SiteGroup", ROW),
          Map.entry("Snapshot", "one part for each subject of a poll"));

  @ArchTest
  static void everyPackageHasItsPlace(JavaClasses all) {
    assertThat(all.stream().map(JavaClass::getPackageName).collect(Collectors.toSet()))
        .containsExactlyInAnyOrderElementsOf(
            Stream.concat(LAYERS.stream(), FACES.stream()).toList());
  }

  @ArchTest
  static void aLayerKnowsOnlyThoseBelowIt(JavaClasses all) {
    for (int i = 0; i < LAYERS.size(); i++) {
      List<String> above = new ArrayList<>(LAYERS.subList(i + 1, LAYERS.size()));
      above.addAll(FACES);
      noClasses()
          .that()
          .resideInAPackage(LAYERS.get(i))
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(above.toArray(String[]::new))
          .check(all);
    }
  }

  @ArchTest
  static void aFaceKnowsOnlyTheFacadeAndWhatItShows(JavaClasses all) {
    for (String face : FACES) {
      List<String> hidden = new ArrayList<>(LAYERS);
      hidden.addAll(FACES);
      hidden.removeAll(SHOWN);
      hidden.remove(face);
      noClasses()
          .that()
          .resideInAPackage(face)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(hidden.toArray(String[]::new))
          .check(all);
    }
  }

  @ArchTest
  static final ArchRule packagesAreFreeOfCycles =
      slices().matching(ROOT + ".(**)").should().beFreeOfCycles();

  @ArchTest
  static void noReaderOfThePollKnowsAnother(JavaClasses all) {
    List<JavaClass> readers =
        all.stream()
            .filter(type -> type.isAssignableTo(INTERNAL + ".engine.SnapshotReader"))
            .filter(type -> !type.isInterface())
            .toList();
    assertThat(readers).hasSizeGreaterThan(5);
    assertThat(readers)
        .allSatisfy(
            reader ->
                assertThat(reader.getDirectDependenciesFromSelf())
                    .extracting(dependency -> dependency.getTargetClass())
                    .doesNotContainAnyElementsOf(
                        readers.stream().filter(other -> other != reader).toList()));
  }

  @ArchTest
  static void noConstructorHasMoreThanEightParameters(JavaClasses all) {
    assertThat(
            all.stream()
                .flatMap(type -> type.getConstructors().stream())
                .filter(constructor -> constructor.getRawParameterTypes().size() > 8)
                .map(constructor -> constructor.getOwner().getName())
                .map(name -> name.substring(name.lastIndexOf('.') + 1))
                .collect(Collectors.toSet()))
        .isEqualTo(READ_IN_ONE_BREATH.keySet());
  }

  @ArchTest
  static void noSimpleNameStandsForTwoTypes(JavaClasses all) throws IOException {
    List<String> names = new ArrayList<>();
    for (String module : List.of("metrics-bridge", "spring-starter", "testing")) {
      try (Stream<Path> files = Files.walk(Path.of("..", "..", module))) {
        files
            .map(Path::toString)
            .filter(file -> file.contains("/src/main/java/io/mallometer/"))
            .filter(file -> file.endsWith(".java") && !file.endsWith("/package-info.java"))
            .map(file -> file.substring(file.lastIndexOf('/') + 1))
            .forEach(names::add);
      }
    }
    assertThat(names).hasSizeGreaterThan(all.size() / 10).doesNotHaveDuplicates();
  }

  /**
   * Limits the number of public types outside of {@code internal}, because applications may use
   * them.
   */
  @ArchTest
  static void theApiGrowsOnlyOnPurpose(JavaClasses all) {
    assertThat(
            all.stream()
                .filter(type -> isApi(type.getPackageName()))
                .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                .filter(JavaClass::isTopLevelClass))
        .as("types of the API: add one only if an application needs it")
        .hasSizeLessThanOrEqualTo(119);
  }

  @ArchTest
  static void theApiShowsNothingInternal(JavaClasses all) {
    assertThat(
            all.stream()
                .filter(type -> isApi(type.getPackageName()))
                .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                .flatMap(type -> type.getCodeUnits().stream())
                .filter(unit -> unit.getModifiers().contains(JavaModifier.PUBLIC))
                .filter(
                    unit ->
                        Stream.concat(
                                Stream.of(unit.getRawReturnType()),
                                unit.getRawParameterTypes().stream())
                            .anyMatch(type -> !isApi(type.getPackageName()))))
        .isEmpty();
  }

  private static boolean isApi(String packageName) {
    return !packageName.startsWith(INTERNAL);
  }

  @ArchTest
  static final ArchRule onlyThePackageThatCallsTheLibraryKnowsJna =
      noClasses()
          .that()
          .resideOutsideOfPackage(INTERNAL + ".library.abi")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("com.sun.jna..");

  @ArchTest
  static final ArchRule onlyTheFaceForFlightRecorderNeedsItsModule =
      noClasses()
          .that()
          .resideOutsideOfPackage(ROOT + ".jfr")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("jdk.jfr..");

  @ArchTest
  static final ArchRule whatIsLoadedWithoutFlightRecorderDoesNotNeedIt =
      noClasses()
          .that()
          .haveSimpleName("NativeMemoryEvents")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("jdk.jfr..");

  /** A Java runtime may lack jdk.management, so only {@code DiagnosticCommands} uses it. */
  @ArchTest
  static final ArchRule theJvmsOwnManagementIsAskedInOnePlace =
      noClasses()
          .that()
          .haveNameNotMatching("io\\.mallometer\\.internal\\.process\\.DiagnosticCommands(\\$.*)?")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("com.sun.management..");

  @ArchTest
  static final ArchRule eachOptionalLibraryIsKnownToItsFaceOnly =
      classes()
          .that()
          .resideOutsideOfPackages(ROOT + ".jfr", ROOT + ".micrometer", ROOT + ".prometheus")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "java..",
              "javax.management..",
              "javax.net.ssl..",
              "com.sun.management..",
              "io.mallometer..",
              "com.sun.jna..",
              "org.jspecify..");
}
