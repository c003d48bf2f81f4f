package io.mallometer.model;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.mallometer.view.Views;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests that each published value (a record component with {@link Figure}) is described in one
 * place.
 */
@Tag("any-jdk")
class FigureTest {

  private static final int MOST_FILES = 3;

  /**
   * Published values whose names may occur in more than {@link #MOST_FILES} files of the main code,
   * because several outputs show the values differently.
   */
  private static final Set<String> NAMED_BY_MORE_FILES =
      Set.of(
          "ageSeconds",
          "allocatedBefore",
          "allocatedBytes",
          "byteUnit",
          "bytesPerSecond",
          "chargedBytes",
          "hugePages",
          "limitBytes",
          "liveBytes",
          "liveObjects",
          "peakBytes",
          "previousRun",
          "residentBytes",
          "retainedBytes",
          "systemBytes",
          "threadName",
          "trimAllowed",
          "trimmableBytes",
          "usedBytes");

  /** Records that may repeat components of other records. The value is the reason. */
  private static final Map<String, String> REPEATING =
      Map.of(
          "view.SiteChangesView", "the moments of a change, without those that did not match",
          "view.HistoryView$Malloc", "the last hour in columns for charts",
          "view.HistoryView$Memory", "the last hour in columns for charts",
          "jmx.AllocatorMXBean$Figures", "jmx_exporter makes labels of the keys of a table only");

  @Test
  void eachPublishedComponentHasAMeaning() {
    for (Class<?> kind : Component.reachable(Views.kinds().values())) {
      assertThat(Component.of(kind))
          .as(kind.getName())
          .allSatisfy(component -> assertThat(component.meaning()).isNotEqualTo(component.name()));
    }
  }

  @Test
  void whatIsNotAnnotatedIsNotPublished() {
    assertThat(Component.of(HistoryPoint.class))
        .extracting(Component::name)
        .contains("liveBytes")
        .doesNotContain("netBytes");
  }

  @Test
  void noRecordOfAFaceRepeatsARecordOfTheModel() {
    Set<String> repeating = new TreeSet<>();
    List<Class<?>> model = records("io.mallometer.model");
    for (Class<?> face : records("io.mallometer.view", "io.mallometer.jmx")) {
      for (Class<?> kind : model) {
        Set<String> common = names(face);
        common.retainAll(names(kind));
        if (common.size() >= 3) {
          repeating.add(face.getName().replace("io.mallometer.", ""));
        }
      }
    }
    assertThat(repeating).containsExactlyInAnyOrderElementsOf(REPEATING.keySet());
  }

  private static List<Class<?>> records(String... packages) {
    return new ClassFileImporter()
        .withImportOption(new ImportOption.DoNotIncludeTests()).importPackages(packages).stream()
            .filter(JavaClass::isRecord)
            .<Class<?>>map(JavaClass::reflect)
            .toList();
  }

  private static Set<String> names(Class<?> kind) {
    return Stream.of(kind.getRecordComponents())
        .map(component -> component.getName())
        .collect(Collectors.toCollection(HashSet::new));
  }

  /**
   * Counts the files of the main code that contain the name of a published value, such as {@code
   * liveBytes}. Names of a single word do not count, because such a word has other meanings as
   * well.
   */
  @Test
  void aFigureIsNamedByThreeFilesAtMost() {
    Map<String, Long> files = new TreeMap<>();
    List<Set<String>> words = faces().map(FigureTest::words).toList();
    Component.reachable(Views.kinds().values()).stream()
        .flatMap(kind -> Component.of(kind).stream())
        .map(Component::name)
        .filter(name -> name.matches(".*[a-z][A-Z].*"))
        .forEach(
            name -> files.put(name, words.stream().filter(text -> text.contains(name)).count()));

    assertThat(files).hasSizeGreaterThan(80);
    files.values().removeIf(count -> count <= MOST_FILES);
    assertThat(files.keySet())
        .as("describe a figure in its record; remove one that fewer files name from the list")
        .containsExactlyInAnyOrderElementsOf(NAMED_BY_MORE_FILES);
  }

  private static Stream<Path> faces() {
    return Stream.of("../core/src/main", "../agent/src/main", "../../spring-starter/src/main")
        .flatMap(FigureTest::filesIn)
        .filter(file -> file.toString().matches(".*\\.(java|js)"))
        .filter(file -> !file.toString().matches(".*/mallometer/(internal|model)/.*"));
  }

  private static Stream<Path> filesIn(String directory) {
    try (Stream<Path> files = Files.walk(Path.of(directory))) {
      return files.toList().stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Set<String> words(Path file) {
    try {
      return Set.copyOf(new HashSet<>(List.of(Files.readString(file).split("\\W+"))));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
