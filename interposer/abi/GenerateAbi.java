import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;

/**
 * Generates the declarations on which the bridge and the library must agree, from {@code
 * mallometer.h}, and the layout of a recording, from {@code recording_format.h}.
 *
 * <ul>
 * <li>{@code java HEADER DIRECTORY PACKAGE} writes the Java classes {@code Abi}, with the constants
 * and a view of each struct over a {@code ByteBuffer}, and {@code LibraryFunctions}, with a method
 * for each function.
 * <li>{@code c HEADER DIRECTORY} writes {@code abi_functions.h}. The file has assertions of each
 * struct's layout, so that a compiler with another layout fails. The file also has the table of the
 * functions' addresses, in the order in which Java numbers the functions.
 * <li>{@code java} with {@code recording_format.h} writes the class {@code RecordingFormat}, with
 * the constants and the offset of each field.
 * <li>{@code c} with {@code recording_format.h} writes {@code recording_layout.h}, with the
 * assertions of each struct's layout.
 * </ul>
 *
 * <p>One run takes several headers: their arguments follow each other, after one {@code java} or
 * {@code c}. A start of the program takes a second.
 *
 * <p>The header may use a small part of C; the program ends with an error at anything else.
 * Constants are numbers. Enums state each value. Fields are fixed-width numbers, {@code double},
 * {@code float}, pointers, texts ({@code char[]}), other structs, and arrays of these types, in an
 * order that needs no padding. Functions return {@code int}, {@code uint32_t} or {@code void}, and
 * take at most five numbers and pointers. Pointers have eight bytes on all platforms.
 *
 * <p>{@code MALLOMETER_ABI_VERSION} must be the checksum of these declarations, so that two builds
 * with different declarations refuse each other.
 */
final class GenerateAbi {

  private static final String RECORDING = "recording_format.h";
  private static final int POINTER_BYTES = 8;
  private static final int MOST_ARGUMENTS = 5;
  private static final List<String> RESULTS = List.of("int", "uint32_t", "void");
  private static final List<String> PARAMETERS =
      List.of("int", "uint32_t", "int32_t", "uint64_t", "int64_t", "size_t", "pointer");

  private static final Pattern COMMENT = Pattern.compile("/\\*.*?\\*/", Pattern.DOTALL);
  private static final Pattern FIELD =
      Pattern.compile("(?:const )?(?:struct )?(\\w+) (\\*?)(\\w+)((?:\\[\\w+])*)");

  private record Field(String type, String name, List<Integer> lengths, int offset, int bytes) {
    int count() {
      return lengths.stream().reduce(1, (a, b) -> a * b);
    }
  }

  private record Struct(String name, List<Field> fields, int bytes) {}

  private record Function(String result, String name, List<Field> parameters) {}

  /** The prefix of the names of structs and functions. Constants have the prefix in upper case. */
  private final String prefix;

  private final Map<String, String> constants = new LinkedHashMap<>();
  private final Map<String, Struct> structs = new LinkedHashMap<>();
  private final List<Function> functions = new ArrayList<>();
  private final String checksum;

  private GenerateAbi(String prefix, String header) {
    this.prefix = prefix;
    Pattern define = Pattern.compile("^#define " + upperPrefix() + "(\\w+) (\\w+|\".*\")$", Pattern.MULTILINE);
    Pattern enumeration = Pattern.compile("^enum " + prefix + "\\w+ \\{(.*?)};", flags());
    Pattern structure = Pattern.compile("^struct " + prefix + "(\\w+) \\{(.*?)^};", flags());
    Pattern function = Pattern.compile("^MALLOMETER_API (\\w+) " + prefix + "(\\w+)\\((.*?)\\);", flags());
    String code = COMMENT.matcher(header).replaceAll("");
    StringBuilder declared = new StringBuilder();
    for (Matcher m = define.matcher(code); m.find(); ) {
      constants.put(m.group(1), m.group(2));
    }
    for (Matcher m = enumeration.matcher(code); m.find(); ) {
      declared.append(m.group());
      readEnum(m.group(1));
    }
    for (Matcher m = structure.matcher(code); m.find(); ) {
      declared.append(m.group());
      structs.put(m.group(1), struct(m.group(1), m.group(2)));
    }
    for (Matcher m = function.matcher(code); m.find(); ) {
      declared.append(m.group());
      // Gives abi_version() number 0: callers check the version before they use other numbers.
      int place = m.group(2).equals("abi_version") ? 0 : functions.size();
      functions.add(place, function(m.group(1), m.group(2), m.group(3)));
    }
    constants.forEach((name, value) -> declared.append(name.equals("ABI_VERSION") ? "" : name + value));
    checksum = checksum(declared.toString().replaceAll("\\s+", ""));
  }

  public static void main(String[] arguments) throws IOException {
    boolean isJava = arguments[0].equals("java");
    for (int i = 1; i < arguments.length; i += isJava ? 3 : 2) {
      try {
        generate(Path.of(arguments[i]), Path.of(arguments[i + 1]), isJava ? arguments[i + 2] : null);
      } catch (IllegalArgumentException e) {
        System.err.println(arguments[i] + ": " + e.getMessage());
        System.exit(1);
      }
    }
  }

  /** Writes the Java classes of a header into a directory, or its C header if javaPackage is null. */
  private static void generate(Path header, Path directory, String javaPackage) throws IOException {
    boolean recording = header.endsWith(RECORDING);
    GenerateAbi abi = new GenerateAbi(recording ? "recording_" : "mallometer_", Files.readString(header));
    String version = abi.constants.getOrDefault("ABI_VERSION", "");
    require(
        recording || version.equals(abi.checksum),
        "the declarations have changed: set MALLOMETER_ABI_VERSION to " + abi.checksum);
    Files.createDirectories(directory);
    if (recording && javaPackage != null) {
      write(directory.resolve("RecordingFormat.java"), abi.offsetsOfJava(javaPackage));
    } else if (recording) {
      write(directory.resolve("recording_layout.h"), abi.checks(RECORDING));
    } else if (javaPackage != null) {
      write(directory.resolve("Abi.java"), abi.structsOfJava(javaPackage));
      write(directory.resolve("LibraryFunctions.java"), abi.functionsOfJava(javaPackage));
    } else {
      write(directory.resolve("abi_functions.h"), abi.c());
    }
  }

  /** Writes a file unless it has the text already: an unchanged file causes no compilation. */
  private static void write(Path file, String text) throws IOException {
    if (!Files.exists(file) || !Files.readString(file).equals(text)) {
      Files.writeString(file, text);
    }
  }

  private String upperPrefix() {
    return prefix.toUpperCase(Locale.ROOT);
  }

  // ---- Reading -------------------------------------------------------------------------------

  private static int flags() {
    return Pattern.DOTALL | Pattern.MULTILINE;
  }

  private void readEnum(String body) {
    for (String entry : body.split(",")) {
      String[] parts = entry.strip().split("\\s*=\\s*");
      require(parts.length == 2, "state the value of each enum constant: " + entry.strip());
      constants.put(parts[0].replaceFirst("^" + upperPrefix(), ""), parts[1]);
    }
  }

  private Struct struct(String name, String body) {
    List<Field> fields = new ArrayList<>();
    int offset = 0;
    int alignment = 1;
    for (String declaration : body.split(";")) {
      if (!declaration.isBlank()) {
        Field field = field(declaration.strip(), offset);
        int aligned = alignment(field.type());
        require(offset % aligned == 0, name + "." + field.name() + " needs padding before it");
        alignment = Math.max(alignment, aligned);
        offset += field.bytes();
        fields.add(field);
      }
    }
    require(offset % alignment == 0, name + " needs padding at its end");
    return new Struct(name, fields, offset);
  }

  private Field field(String declaration, int offset) {
    Matcher m = FIELD.matcher(declaration);
    require(m.matches(), "not understood: " + declaration);
    boolean pointer = !m.group(2).isEmpty();
    List<Integer> lengths = new ArrayList<>();
    for (String length : m.group(4).replace("]", "").split("\\[")) {
      if (!length.isEmpty()) {
        lengths.add(Integer.decode(number(length.replaceFirst("^" + upperPrefix(), ""))));
      }
    }
    String type = pointer ? "pointer" : m.group(1).replaceFirst("^" + prefix, "");
    Field one = new Field(type, m.group(3), lengths, offset, 0);
    return new Field(type, m.group(3), lengths, offset, one.count() * size(type));
  }

  private Function function(String result, String name, String parameters) {
    List<Field> list = new ArrayList<>();
    if (!parameters.equals("void")) {
      for (String parameter : parameters.split(",\\s*")) {
        list.add(field(parameter.strip(), 0));
      }
    }
    require(list.size() <= MOST_ARGUMENTS, name + " has too many parameters");
    require(RESULTS.contains(result), name + " returns " + result);
    for (Field parameter : list) {
      require(PARAMETERS.contains(parameter.type()), name + " takes " + parameter.type());
    }
    return new Function(result, name, list);
  }

  private int size(String type) {
    return switch (type) {
      case "char", "uint8_t" -> 1;
      case "uint32_t", "int32_t", "float", "int" -> Integer.BYTES;
      case "uint64_t", "int64_t", "double", "size_t" -> Long.BYTES;
      case "pointer" -> POINTER_BYTES;
      default -> {
        require(structs.containsKey(type), "unknown type " + type);
        yield structs.get(type).bytes();
      }
    };
  }

  private int alignment(String type) {
    return structs.containsKey(type)
        ? structs.get(type).fields().stream().mapToInt(f -> alignment(f.type())).max().orElse(1)
        : size(type);
  }

  /**
   * Returns a number without its suffix, such as {@code ul}. The argument is a number or the name
   * of a constant.
   */
  private String number(String value) {
    return constants.getOrDefault(value, value).replaceFirst("(?<=[0-9a-f])ul?$", "");
  }

  private static String checksum(String declared) {
    CRC32 crc = new CRC32();
    crc.update(declared.getBytes(java.nio.charset.StandardCharsets.UTF_8));
    return String.format("0x%08xu", crc.getValue());
  }

  // ---- Writing C -----------------------------------------------------------------------------

  private String checks(String header) {
    StringBuilder c = new StringBuilder("/* Generated from " + header + " by GenerateAbi.java. */\n");
    for (Struct struct : structs.values()) {
      String type = "struct " + prefix + struct.name();
      c.append("_Static_assert(sizeof(%s) == %d, \"%s\");\n".formatted(type, struct.bytes(), type));
      for (Field field : struct.fields()) {
        c.append(
            "_Static_assert(offsetof(%s, %s) == %d, \"%s.%s\");\n"
                .formatted(type, field.name(), field.offset(), type, field.name()));
      }
    }
    return c.toString();
  }

  private String c() {
    StringBuilder c = new StringBuilder(checks("mallometer.h"));
    c.append("static void *const functions[] = {\n");
    functions.forEach(f -> c.append("    ").append(prefix).append(f.name()).append(",\n"));
    return c.append("};\n").toString();
  }

  // ---- Writing Java --------------------------------------------------------------------------

  private String structsOfJava(String packageName) {
    StringBuilder java =
        new StringBuilder(
            """
            // Generated from mallometer.h by GenerateAbi.java.
            package %s;

            import java.nio.ByteBuffer;

            /** The constants of {@code mallometer.h}, and views of its structs. */
            final class Abi {

              private Abi() {}

            """
                .formatted(packageName));
    constants.forEach((name, value) -> java.append(constant(name, number(value))));
    structs.values().forEach(struct -> java.append(view(struct)));
    return java.append("}\n").toString();
  }

  private String offsetsOfJava(String packageName) {
    StringBuilder java =
        new StringBuilder(
            """
            // Generated from recording_format.h by GenerateAbi.java.
            package %s;

            /** The constants of {@code recording_format.h}, and the offset of each field of its structs. */
            final class RecordingFormat {

              private RecordingFormat() {}

            """
                .formatted(packageName));
    constants.forEach((name, value) -> java.append(constant(name, number(value))));
    for (Struct struct : structs.values()) {
      String name = struct.name().toUpperCase(Locale.ROOT);
      java.append(constant(name + "_BYTES", String.valueOf(struct.bytes())));
      for (Field field : struct.fields()) {
        String of = name + "_" + field.name().toUpperCase(Locale.ROOT);
        java.append(constant(of, String.valueOf(field.offset())));
        if (field.type().equals("char")) {
          java.append(constant(of + "_LENGTH", String.valueOf(field.bytes())));
        }
      }
    }
    return java.append("}\n").toString();
  }

  private String functionsOfJava(String packageName) {
    StringBuilder java =
        new StringBuilder(
            """
            // Generated from mallometer.h by GenerateAbi.java.
            package %s;

            import java.util.List;

            /** The functions of {@code mallometer.h}, under their C names. Pointers are passed as addresses. */
            final class LibraryFunctions {

              /** The names, in the order of the library's table. */
              static final List<String> NAMES =
                  List.of(
            """
                .formatted(packageName));
    List<String> names = functions.stream().map(f -> "          \"" + prefix + f.name() + "\"").toList();
    java.append(String.join(",\n", names)).append(");\n\n  private LibraryFunctions() {}\n");
    for (int i = 0; i < functions.size(); i++) {
      java.append(call(i, functions.get(i)));
    }
    return java.append("}\n").toString();
  }

  private static String constant(String name, String value) {
    return switch (value) {
      case "UINT64_MAX" -> "  static final long %s = -1L;\n".formatted(name);
      case "UINT32_MAX" -> "  static final int %s = -1;\n".formatted(name);
      default -> "  static final %s %s = %s;\n".formatted(value.startsWith("\"") ? "String" : "int", name, value);
    };
  }

  private String view(Struct struct) {
    StringBuilder view =
        new StringBuilder(
            """

              /** A {@code struct mallometer_%s} in memory that the library fills. */
              record %s(ByteBuffer memory, int at) {
                static final int BYTES = %d;
            """
                .formatted(struct.name(), camel("_" + struct.name()), struct.bytes()));
    List<Field> told = struct.fields().stream().filter(f -> !f.name().equals("reserved")).toList();
    told.forEach(f -> view.append("    static final int %s = %d;\n".formatted(offsetName(f), f.offset())));
    view.append(members(struct));
    told.forEach(f -> view.append(accessor(f)));
    return view.append("  }\n").toString();
  }

  private String members(Struct struct) {
    return """

            %s(ByteBuffer memory) {
              this(memory, 0);
            }

            /** Returns an element of an array. */
            static %s row(ByteBuffer rows, int index) {
              return new %s(rows, index * BYTES);
            }
        """
        .replace("%s", camel("_" + struct.name()));
  }

  private static String offsetName(Field field) {
    return field.name().toUpperCase(Locale.ROOT) + "_AT";
  }

  private String accessor(Field field) {
    String name = camel(field.name());
    String offset = offsetName(field);
    if (field.type().equals("char")) {
      return accessor("String", name, "", "Structs.text(memory, at + %s, %d)".formatted(offset, field.bytes()));
    }
    String index = field.lengths().isEmpty() ? "" : "int index";
    String place = "at + " + offset + (index.isEmpty() ? "" : " + index * " + size(field.type()));
    String type = javaType(field.type());
    String value =
        structs.containsKey(field.type())
            ? "new %s(memory, %s)".formatted(type, place)
            : "memory.get%s(%s)".formatted(type.equals("byte") ? "" : capital(type), place);
    return accessor(type, name, index, value);
  }

  private static String accessor(String type, String name, String parameters, String value) {
    return "\n    %s %s(%s) {\n      return %s;\n    }\n".formatted(type, name, parameters, value);
  }

  private String call(int number, Function function) {
    List<String> parameters = new ArrayList<>();
    StringBuilder arguments = new StringBuilder();
    for (Field parameter : function.parameters()) {
      String type = parameter.type().equals("uint32_t") ? "int" : "long";
      parameters.add(type + " " + camel(parameter.name()));
      arguments.append(", ").append(camel(parameter.name()));
    }
    arguments.append(", 0".repeat(MOST_ARGUMENTS - parameters.size()));
    return """

          static int %s(%s) {
            return LibraryCalls.call(%d%s);
          }
        """
        .formatted(
            prefix + function.name(), String.join(", ", parameters), number, arguments);
  }

  private String javaType(String type) {
    return switch (type) {
      case "uint8_t" -> "byte";
      case "uint32_t", "int32_t" -> "int";
      case "uint64_t", "int64_t", "pointer" -> "long";
      case "float", "double" -> type;
      default -> camel("_" + type);
    };
  }

  /**
   * Returns a name in Java's style: {@code live_bytes} as {@code liveBytes}, {@code _site_sums} as {@code SiteSums}.
   */
  private static String camel(String name) {
    StringBuilder camel = new StringBuilder();
    for (String word : name.split("_")) {
      camel.append(camel.isEmpty() && !name.startsWith("_") ? word : capital(word));
    }
    return camel.toString();
  }

  private static String capital(String word) {
    return word.isEmpty() ? "" : word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1);
  }

  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new IllegalArgumentException(otherwise);
    }
  }
}
