package io.mallometer.internal.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.mallometer.model.Account;
import io.mallometer.model.Account.Kind;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.Diagnosis.State;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/**
 * Computes the diagnoses of real programs from inputs that {@code benchmarks/diagnosis/run.py
 * --inputs} recorded at minutes 5 and 9. Each file also contains the expected result.
 */
@Tag("any-jdk")
class RecordedDiagnosisTest {

  private static final double UNKNOWN_SHARE = 0.1;

  /**
   * Growth below this limit need not be explained, because it is hardly larger than sampling
   * errors: an estimate of 60 MiB has a standard error of 5 MiB.
   */
  private static final double LEAST_BYTES = 8 * Situation.MIB;

  @TestFactory
  Stream<DynamicTest> isRight() throws Exception {
    Path directory = Path.of(getClass().getResource("recorded").toURI());
    List<Path> files;
    try (Stream<Path> all = Files.list(directory)) {
      files = all.sorted().toList();
    }
    return files.stream()
        .map(
            file ->
                DynamicTest.dynamicTest(
                    file.getFileName().toString().replace(".json.gz", ""),
                    () -> assertRight(read(file))));
  }

  private static JsonNode read(Path file) throws IOException {
    try (InputStream in = new GZIPInputStream(Files.newInputStream(file))) {
      return new ObjectMapper().readTree(in);
    }
  }

  private static void assertRight(JsonNode recorded) throws ReflectiveOperationException {
    Diagnosis diagnosis = DiagnosisRules.diagnosis(RecordedInput.of(recorded.path("input")));
    String sentence = diagnosis.sentence();

    assertThat(texts(recorded.path("states"))).as(sentence).contains(diagnosis.state().tag());
    assertThat(sentence.split(" ")).as(sentence).hasSizeLessThanOrEqualTo(Situation.MOST_WORDS);
    boolean grave = diagnosis.state().compareTo(State.TOO_EARLY) > 0;
    for (String text : texts(recorded.path(grave ? "says" : "alwaysSays"))) {
      assertThat(sentence).containsPattern(text);
    }
    for (String text : texts(recorded.path("notSays"))) {
      assertThat(sentence).doesNotContainPattern(text);
    }
    Account account = diagnosis.account().orElseThrow();
    if (recorded.path("attributed").asBoolean()) {
      double unknown = growth(account, Kind.UNATTRIBUTED) + growth(account, Kind.SAMPLING);
      assertThat(unknown)
          .as("not attributed or sampled")
          .isLessThanOrEqualTo(Math.max(UNKNOWN_SHARE * account.positiveBytes(), LEAST_BYTES));
    }
  }

  private static double growth(Account account, Kind kind) {
    return account.rows().stream()
        .filter(row -> row.kind() == kind)
        .mapToDouble(row -> Math.abs(row.growthBytes()))
        .sum();
  }

  private static List<String> texts(JsonNode array) {
    List<String> texts = new ArrayList<>();
    array.forEach(text -> texts.add(text.asText()));
    return texts;
  }
}
