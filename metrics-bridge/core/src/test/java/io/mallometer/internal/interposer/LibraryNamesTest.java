package io.mallometer.internal.interposer;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.PublicNames;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What programs that are linked against the library, or read its structures, rely on. */
@Tag("process")
@Tag("any-jdk")
class LibraryNamesTest {

  private static final Path LIBRARY =
      Path.of("../../interposer/target/native/linux-x86-64/libmallometer.so");
  private static final Path HEADERS = Path.of("../../interposer/include");

  private static final Pattern FUNCTION =
      Pattern.compile(
          "^(MALLOMETER_API|static inline) ([^;{]+ (\\w+)\\([^;{]+\\))", Pattern.MULTILINE);
  private static final Pattern CONSTANT =
      Pattern.compile("#define (MALLOMETER_(?!API)\\w+) \\S|(MALLOMETER_\\w+) = ");
  private static final Pattern STRUCT = Pattern.compile("(struct \\w+) \\{([^}]+)}");
  private static final Pattern FIELD = Pattern.compile("(\\w+ \\*?(\\w+)(?:\\[\\w+])*);");
  private static final Pattern DECLARATION = Pattern.compile(";");

  @TempDir private Path directory;

  /** With their parameters, of which the built library only knows the names. */
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

  /** Offsets and sizes in bytes, as the compiler has them. */
  @Test
  void structuresAndConstants() throws Exception {
    List<String> statements = new ArrayList<>();
    for (MatchResult struct : matches(STRUCT, header())) {
      String type = struct.group(1);
      statements.add("printf(\"%s: %zu bytes\\n\", \"" + type + "\", sizeof(" + type + "));");
      List<MatchResult> fields = matches(FIELD, struct.group(2));
      assertThat(fields)
          .as("the fields of %s, each declared by itself", type)
          .hasSize(matches(DECLARATION, struct.group(2)).size());
      for (MatchResult field : fields) {
        statements.add(
            "printf(\"%1$s, at %%4zu: %3$s, %%zu bytes\\n\", offsetof(%1$s, %2$s), sizeof(((%1$s *)0)->%2$s));"
                .formatted(type, field.group(2), field.group(1)));
      }
    }
    for (MatchResult constant : matches(CONSTANT, header())) {
      String name = constant.group(1) == null ? constant.group(2) : constant.group(1);
      statements.add("printf(\"%1$s = %%lld\\n\", (long long)%1$s);".formatted(name));
    }

    PublicNames.check(
        "structures and constants of the library", List.of(compiled(statements).split("\n")));
  }

  private String compiled(List<String> statements) throws Exception {
    Path source =
        Files.writeString(
            directory.resolve("names.c"),
            "#include <stdio.h>\n#include \"mallometer.h\"\nint main(void) {\n"
                + String.join("\n", statements)
                + "\nreturn 0;\n}\n");
    Path executable = directory.resolve("names");
    output("gcc", "-I", HEADERS.toString(), "-o", executable.toString(), source.toString());
    return output(executable.toString());
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
