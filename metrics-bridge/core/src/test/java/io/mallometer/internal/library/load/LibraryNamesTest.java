package io.mallometer.internal.library.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.PublicNames;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("process")
@Tag("any-jdk")
class LibraryNamesTest {

  private static final Path LIBRARY =
      Path.of("../../interposer/target/native/linux-x86-64/libmallometer.so");
  private static final Path HEADERS = Path.of("../../interposer/include");

  private static final Pattern FUNCTION =
      Pattern.compile(
          "^(MALLOMETER_API|static inline) ([^;{]+ (\\w+)\\([^;{]+\\))", Pattern.MULTILINE);

  /** Takes the parameters from the headers, because the built library contains only the names. */
  @Test
  void functionsAndThoseThatTheLibraryStandsBefore() throws Exception {
    Set<String> names = new TreeSet<>();
    Map<String, String> declared = new HashMap<>();
    for (MatchResult function : matches(FUNCTION, header() + optionalHeader())) {
      String text = function.group(2).replaceAll("\\s+", " ");
      if (function.group(1).startsWith("static")) {
        names.add("static inline " + text);
      }
      declared.put(function.group(3), text);
    }
    for (String line : output("nm", "-D", "--defined-only", LIBRARY.toString()).split("\n")) {
      String symbol = line.replaceFirst(".* ", "");
      names.add(declared.getOrDefault(symbol, symbol));
    }

    PublicNames.check("functions of the library", names);
  }

  private static String header() throws Exception {
    return withoutComments("mallometer.h");
  }

  private static String optionalHeader() throws Exception {
    return withoutComments("mallometer_optional.h");
  }

  private static String withoutComments(String header) throws Exception {
    return Files.readString(HEADERS.resolve(header)).replaceAll("(?s)/\\*.*?\\*/", "");
  }

  private static List<MatchResult> matches(Pattern pattern, String text) {
    return pattern.matcher(text).results().toList();
  }

  private static String output(String... command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output;
  }
}
