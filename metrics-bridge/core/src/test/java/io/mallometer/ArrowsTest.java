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
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The order of the packages: each knows only those before it, and no face knows another. */
@AnalyzeClasses(packages = "io.mallometer", importOptions = ImportOption.DoNotIncludeTests.class)
@ArchTag("any-jdk")
class ArrowsTest {

  private static final String ROOT = "io.mallometer";

  /** Not part of the API. */
  private static final String INTERNAL = ROOT + ".internal";

  /** The lowest first. */
  private static final List<String> LAYERS =
      List.of(
          INTERNAL + ".text",
          ROOT + ".model",
          ROOT + ".meter",
          ROOT + ".report",
          INTERNAL + ".symbol",
          INTERNAL + ".owner",
          INTERNAL + ".interposer",
          INTERNAL + ".process",
          INTERNAL + ".history",
          INTERNAL + ".leak",
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

  /** All that a face may know of the project: the facade, what it hands out, and how to show it. */
  private static final List<String> SHOWN =
      List.of(ROOT, INTERNAL + ".text", ROOT + ".model", ROOT + ".meter", ROOT + ".report");

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

  /** Only what an application may call is in packages outside of internal. */
  @ArchTest
  static void theApiGrowsOnlyOnPurpose(JavaClasses all) {
    assertThat(
            all.stream()
                .filter(type -> isApi(type.getPackageName()))
                .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                .filter(JavaClass::isTopLevelClass))
        .as("types of the API: add one only if an application needs it")
        .hasSizeLessThanOrEqualTo(118);
  }

  /** A class of the API that takes or hands out one that is internal would make that part of it. */
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
  static final ArchRule onlyTheInterposerPackageKnowsJna =
      noClasses()
          .that()
          .resideOutsideOfPackage(INTERNAL + ".interposer")
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

  /** A runtime may be without its module. */
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
