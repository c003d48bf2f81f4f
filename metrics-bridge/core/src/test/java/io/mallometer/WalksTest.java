package io.mallometer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that the source files in each reading list ("walk") of ARCHITECTURE.md exist and are listed
 * once. Also tests that each rule in diagnosis.md is the name of a method.
 */
@Tag("any-jdk")
class WalksTest {

  private static final Path REPOSITORY = Path.of("../..");
  private static final Pattern RULE = Pattern.compile("(?m)^\\| `(\\w+)`");
  private static final Pattern STEP = Pattern.compile("(?m)^\\d+\\. `(\\S+)`: ");

  @ParameterizedTest
  @ValueSource(strings = {"From malloc's size to a panel", "One verdict from evidence to page"})
  void eachFileOfAWalkExistsAndIsVisitedOnce(String walk) throws IOException {
    String text = Files.readString(REPOSITORY.resolve("ARCHITECTURE.md"));
    String section = text.split("### " + walk)[1].split("\n###")[0];
    List<String> files =
        STEP.matcher(section).results().map((MatchResult step) -> step.group(1)).toList();

    assertThat(files)
        .hasSizeGreaterThan(10)
        .doesNotHaveDuplicates()
        .allMatch(file -> Files.isRegularFile(REPOSITORY.resolve(file)));
  }

  @Test
  void eachRuleOfTheDiagnosisIsAMethod() throws IOException {
    String table = Files.readString(REPOSITORY.resolve("docs/explanation/diagnosis.md"));
    String rules =
        Files.readString(
            Path.of("src/main/java/io/mallometer/internal/diagnosis/DiagnosisRules.java"));

    assertThat(RULE.matcher(table).results().map(rule -> rule.group(1)))
        .hasSizeGreaterThan(10)
        .allMatch(rule -> Pattern.compile("  private \\S+ " + rule + "\\(").matcher(rules).find());
  }
}
