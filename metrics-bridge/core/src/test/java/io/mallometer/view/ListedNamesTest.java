package io.mallometer.view;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.mallometer.PublicNames;
import io.mallometer.meter.Meter;
import io.mallometer.model.Component;
import io.mallometer.model.StackFrame;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Compares the names in the code with the file of public names. */
@Tag("any-jdk")
class ListedNamesTest {

  private static final Path LIBRARY =
      Path.of("../../interposer/target/native/linux-x86-64/libmallometer.so");
  private static final Path HEADERS = Path.of("../../interposer/include");

  private static final Pattern FUNCTION =
      Pattern.compile(
          "^(MALLOMETER_API|static inline) ([^;{]+ (\\w+)\\([^;{]+\\))", Pattern.MULTILINE);

  @Test
  void everyViewIsAnAnswer() {
    assertThat(
            new ClassFileImporter()
                    .withImportOption(new ImportOption.DoNotIncludeTests())
                    .importPackages(View.class.getPackageName())
                    .stream()
                    .filter(type -> type.isAssignableTo(View.class) && !type.isInterface())
                    .map(JavaClass::getName)
                    .filter(name -> !name.equals(View.Of.class.getName())))
        .as("add a new view to Views.kinds")
        .isSubsetOf(Views.kinds().values().stream().map(Class::getName).toList());
  }

  /** The list is generated from the records that are written as JSON. */
  @Test
  void everyPublishedComponentIsListed() {
    Set<String> names = new TreeSet<>();
    Views.kinds().forEach((asked, kind) -> addKeys(names, asked, kind));

    PublicNames.check("keys in JSON", names);
  }

  private static void addKeys(Set<String> names, String asked, Class<?> kind) {
    for (Component component : Component.of(kind)) {
      addKey(
          names, asked + (asked.endsWith("[]") ? "." : " ") + component.name(), component.type());
    }
  }

  private static void addKey(Set<String> names, String key, Type type) {
    Optional<String> known =
        Views.kinds().entrySet().stream()
            .filter(kind -> kind.getValue() == type)
            .map(Map.Entry::getKey)
            .findFirst();
    if (known.isPresent() && key.startsWith("overview ")) {
      names.add(key + " = " + known.get());
    } else if (type instanceof ParameterizedType generic) {
      Type[] arguments = generic.getActualTypeArguments();
      String mark =
          generic.getRawType() == Optional.class
              ? ""
              : generic.getRawType() == Map.class ? ".*" : "[]";
      addKey(names, key + mark, arguments[arguments.length - 1]);
    } else if (type instanceof Class<?> kind && kind.isRecord() && kind != StackFrame.class) {
      Component.of(kind).forEach(one -> addKey(names, key + "." + one.name(), one.type()));
    } else {
      names.add(key);
    }
  }

  @Test
  void everyMeterIsListed() {
    assertThat(PublicNames.names("meters of Micrometer"))
        .containsAll(Meter.all().stream().map(Meter::name).toList());
  }

  /**
   * The built library contains only the names of functions. Their parameters come from the headers.
   */
  @Test
  @Tag("process")
  void functionsAndThoseThatTheLibraryStandsBefore() throws Exception {
    Set<String> names = new TreeSet<>();
    Map<String, String> declared = new HashMap<>();
    for (MatchResult function : FUNCTION.matcher(declarations()).results().toList()) {
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

  private static String declarations() throws Exception {
    return (Files.readString(HEADERS.resolve("mallometer.h"))
            + Files.readString(HEADERS.resolve("mallometer_optional.h")))
        .replaceAll("(?s)/\\*.*?\\*/", "");
  }

  private static String output(String... command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output;
  }
}
