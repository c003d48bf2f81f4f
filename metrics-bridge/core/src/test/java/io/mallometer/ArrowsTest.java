package io.mallometer;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** Arrows between packages point down only. */
@AnalyzeClasses(packages = "io.mallometer", importOptions = ImportOption.DoNotIncludeTests.class)
class ArrowsTest {

  private static final String[] FACES = {
    "io.mallometer.jmx..",
    "io.mallometer.jfr..",
    "io.mallometer.micrometer..",
    "io.mallometer.prometheus.."
  };

  @ArchTest
  static final ArchRule onlyTheInterposerPackageKnowsJna =
      noClasses()
          .that()
          .resideOutsideOfPackage("io.mallometer.interposer")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("com.sun.jna..");

  @ArchTest
  static final ArchRule facesKnowTheRecordsOnly =
      noClasses()
          .that()
          .resideInAnyPackage(FACES)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "io.mallometer.interposer..",
              "io.mallometer.process..",
              "io.mallometer.history..",
              "io.mallometer.leak..");

  @ArchTest
  static final ArchRule symbolsKnowTheRecordsAndTheJdkOnly =
      classes()
          .that()
          .resideInAPackage("io.mallometer.symbol")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage("java..", "io.mallometer", "io.mallometer.symbol", "org.jspecify..");

  @ArchTest
  static final ArchRule verdictsKnowTheRecordsAndNamesOnly =
      classes()
          .that()
          .resideInAPackage("io.mallometer.leak")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "java..",
              "io.mallometer",
              "io.mallometer.leak",
              "io.mallometer.symbol",
              "org.jspecify..");

  @ArchTest
  static final ArchRule reportsKnowTheRecordsOnly =
      classes()
          .that()
          .resideInAPackage("io.mallometer.report")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage("java..", "io.mallometer", "io.mallometer.report", "org.jspecify..");

  @ArchTest
  static final ArchRule viewsKnowTheRecordsAndReportsOnly =
      classes()
          .that()
          .resideInAPackage("io.mallometer.view")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "java..",
              "io.mallometer",
              "io.mallometer.report",
              "io.mallometer.view",
              "org.jspecify..");

  @ArchTest
  static final ArchRule thePageIsAStaticDocument =
      classes()
          .that()
          .resideInAPackage("io.mallometer.page")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "java..", "io.mallometer.report", "io.mallometer.page", "org.jspecify..");

  @ArchTest
  static final ArchRule facesDoNotKnowEachOther =
      slices()
          .matching("io.mallometer.(jmx|jfr|micrometer|prometheus)..")
          .should()
          .notDependOnEachOther();

  @ArchTest
  static final ArchRule recordsAndFacadeKnowNoFace =
      noClasses()
          .that()
          .resideInAnyPackage(
              "io.mallometer",
              "io.mallometer.interposer",
              "io.mallometer.process",
              "io.mallometer.symbol",
              "io.mallometer.report",
              "io.mallometer.history",
              "io.mallometer.leak")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(FACES);

  @ArchTest
  static final ArchRule onlyTheFaceForFlightRecorderNeedsItsModule =
      noClasses()
          .that()
          .resideOutsideOfPackage("io.mallometer.jfr")
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
          .haveNameNotMatching("io\\.mallometer\\.process\\.DiagnosticCommands(\\$.*)?")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("com.sun.management..");

  @ArchTest
  static final ArchRule eachOptionalLibraryIsKnownToItsFaceOnly =
      classes()
          .that()
          .resideInAnyPackage(
              "io.mallometer",
              "io.mallometer.interposer",
              "io.mallometer.process",
              "io.mallometer.symbol",
              "io.mallometer.report",
              "io.mallometer.history",
              "io.mallometer.leak",
              "io.mallometer.jmx")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "java..",
              "javax.management..",
              "com.sun.management..",
              "io.mallometer..",
              "com.sun.jna..",
              "org.jspecify..");
}
