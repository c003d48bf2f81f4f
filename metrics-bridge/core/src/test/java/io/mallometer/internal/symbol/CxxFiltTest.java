package io.mallometer.internal.symbol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares names with those of {@code c++filt -p} (GNU binutils) for all functions of large C++
 * libraries. The test removes from the output of c++filt what {@link ItaniumName} leaves out, such
 * as template arguments.
 */
@Tag("process")
@Tag("any-jdk")
class CxxFiltTest {

  /**
   * The least share of names that must equal the output of c++filt. At least 99.97 % were equal
   * with each library and JVM that was measured.
   */
  private static final double SHARE = 0.999;

  @TempDir Path directory;

  @BeforeAll
  static void cxxfiltIsThere() {
    boolean there;
    try {
      there = run("", "c++filt", "--version").size() > 0 && run("", "nm", "--version").size() > 0;
    } catch (IOException e) {
      there = false;
    }
    if ("true".equals(System.getenv("REQUIRE_CXXFILT"))) {
      assertThat(there).as("c++filt, of Debian's package binutils, is on the PATH").isTrue();
    }
    assumeTrue(there, "c++filt is not on the PATH; it is in Debian's package binutils");
  }

  @Test
  void agreesOnLibstdcxx() throws Exception {
    Optional<Path> library = find(Path.of("/usr/lib"), "libstdc++.so.6");
    assumeTrue(library.isPresent(), "there is no libstdc++.so.6 in /usr/lib");
    assertAgreement(library.get());
  }

  @Test
  void agreesOnLibjvm() throws Exception {
    Path library = Path.of(System.getProperty("java.home"), "lib/server/libjvm.so");
    assertAgreement(library);
  }

  @Test
  void agreesOnRocksdb() throws Exception {
    Path library = directory.resolve("librocksdbjni.so");
    String name = "/librocksdbjni-linux64.so";
    try (InputStream in = CxxFiltTest.class.getResourceAsStream(name)) {
      assertThat(in).as("the library in the jar of rocksdbjni").isNotNull();
      Files.copy(in, library);
    }
    assertAgreement(library);
  }

  private static void assertAgreement(Path library) throws IOException {
    List<String> symbols = functions(library);
    assertThat(symbols).hasSizeGreaterThan(10);
    List<String> references = run(String.join("\n", symbols) + "\n", "c++filt", "-p");
    assertThat(references).hasSameSizeAs(symbols);
    List<String> different = new ArrayList<>();
    for (int i = 0; i < symbols.size(); i++) {
      String expected = reduced(references.get(i));
      String name = SymbolName.of(symbols.get(i));
      if (!name.equals(expected)) {
        different.add(symbols.get(i) + ": " + name + ", not " + expected);
      }
    }
    double share = 1 - different.size() / (double) symbols.size();
    System.out.printf(
        "%s: %d of %d names agree%n",
        library.getFileName(), symbols.size() - different.size(), symbols.size());
    assertThat(share).as(() -> String.join("\n", different)).isGreaterThanOrEqualTo(SHARE);
  }

  private static List<String> functions(Path library) throws IOException {
    return Stream.concat(
            run("", "nm", "-D", library.toString()).stream(),
            run("", "nm", library.toString()).stream())
        .map(line -> line.split(" "))
        .filter(fields -> fields.length == 3 && "tTwWi".contains(fields[1]))
        .map(fields -> fields[2].replaceFirst("@.*", ""))
        .filter(symbol -> symbol.startsWith("_Z") && !symbol.matches("_Z(T[VTIS]|GV).*"))
        .distinct()
        .sorted()
        .toList();
  }

  private static String reduced(String name) {
    String text =
        name.replaceAll("\\[abi:[^\\]]*\\]", "")
            .replaceAll(" \\[clone [^\\]]*\\]", "")
            .replaceAll("\\{lambda\\((.*?)\\)#", "{lambda#");
    boolean thunk =
        text.matches("(?:(?:non-)?virtual thunk to|covariant .* to|transaction .* for) .*");
    text =
        withoutTemplateArguments(text)
            .replaceAll("(?<!operator)\\((?!anonymous namespace\\))[^()]*\\)(?: const)?(?=::)", "");
    return thunk
        ? text.replaceFirst("^.*?(?:thunk to|clone for) ", "")
            .replaceFirst("(?<!operator)\\([^()]*\\)(?: const)?$", "")
        : text;
  }

  private static String withoutTemplateArguments(String name) {
    String[] operators = {"<=>", "<<=", ">>=", "<<", ">>", "<=", ">=", "->*", "->", "<", ">"};
    StringBuilder text = new StringBuilder();
    int depth = 0;
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      if (depth == 0
          && (c == '<' || c == '>' || c == '-')
          && text.toString().endsWith("operator")) {
        String rest = name.substring(i);
        String operator = Stream.of(operators).filter(rest::startsWith).findFirst().orElse("");
        if (!operator.isEmpty()) {
          text.append(operator);
          i += operator.length() - 1;
          continue;
        }
      }
      if (c == '<') {
        depth++;
      } else if (c == '>' && depth > 0 && name.charAt(i - 1) != '-') {
        depth--;
      } else if (depth == 0) {
        text.append(c);
      }
    }
    // c++filt writes a space between {@code operator<} and template arguments. The arguments are
    // gone, so the space must go too.
    return text.toString().replaceAll("(?<=operator.{1,3}) (?=$|\\()", "");
  }

  private static Optional<Path> find(Path directory, String name) throws IOException {
    try (Stream<Path> files = Files.find(directory, 2, (path, a) -> path.endsWith(name))) {
      return files.findFirst();
    }
  }

  private static List<String> run(String input, String... command) throws IOException {
    Path in = Files.createTempFile("names", ".txt");
    try {
      Files.writeString(in, input);
      Process process =
          new ProcessBuilder(command)
              .redirectInput(in.toFile())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .toList();
    } finally {
      Files.delete(in);
    }
  }
}
