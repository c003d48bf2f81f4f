package io.mallometer.internal.interposer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class DirectCallsTest {

  private static final Path LIBRARYS_TABLE = Path.of("../../interposer/src/control/java_calls.c");

  @Test
  void functionsHaveTheNumbersThatTheLibraryGivesThem() throws IOException {
    String source = Files.readString(LIBRARYS_TABLE);
    int begin = source.indexOf("functions[] = {");
    String table = source.substring(begin, source.indexOf("};", begin));
    List<String> functions =
        Pattern.compile("mallometer_[a-z_]+")
            .matcher(table)
            .results()
            .map(MatchResult::group)
            .toList();
    assertThat(DirectCalls.FUNCTIONS).isEqualTo(functions);
  }
}
