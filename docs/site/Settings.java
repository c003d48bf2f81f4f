import io.mallometer.internal.text.JsonWriter;
import io.mallometer.model.Setting;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes the list of settings as JSON. Run with the classes of metrics-bridge/core on the class path.
 *
 * <pre>
 * java Settings.java                 prints all settings, for docs/site/reference.py
 * java Settings.java MORE FILE       adds Spring Boot's metadata of the properties to the JSON of the file MORE, and writes the result to FILE
 * </pre>
 */
final class Settings {

  private Settings() {}

  public static void main(String[] arguments) throws IOException {
    if (arguments.length == 0) {
      System.out.println(json(Setting.all().stream().map(Settings::row).toList()));
      return;
    }
    List<String> properties = new ArrayList<>();
    List<String> hints = new ArrayList<>();
    for (Setting<?> setting : Setting.all()) {
      if (setting.isProperty()) {
        properties.add(json(metadata(setting)));
      }
      if (setting.isProperty() && !setting.words().isEmpty()) {
        List<?> values = setting.words().stream().map(word -> Map.of("value", word)).toList();
        hints.add(json(Map.of("name", setting.property(), "values", values)));
      }
    }
    String start = "\"properties\": [";
    String before = "\"hints\": [" + String.join(",\n", hints) + "],\n" + start;
    String more = Files.readString(Path.of(arguments[0]));
    Path file = Path.of(arguments[1]);
    Files.createDirectories(file.getParent());
    Files.writeString(file, more.replace(start, before + String.join(",\n", properties) + ","));
  }

  private static Map<String, Object> row(Setting<?> setting) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("name", setting.name());
    row.put("reader", setting.reader().name());
    row.put("property", setting.isProperty() ? setting.property() : "");
    row.put("option", setting.isOption() ? setting.name() : "");
    row.put("variable", setting.variable());
    row.put("library", setting.isOfTheLibrary());
    row.put("values", setting.values());
    row.put("default", setting.defaultText());
    row.put("meaning", setting.meaning());
    return row;
  }

  private static Map<String, Object> metadata(Setting<?> setting) {
    Map<String, Object> metadata = new LinkedHashMap<>();
    metadata.put("name", setting.property());
    metadata.put("type", type(setting));
    metadata.put("description", setting.meaning());
    if (!setting.defaultText().isEmpty()) {
      metadata.put("defaultValue", usual(setting));
    }
    return metadata;
  }

  private static Object usual(Setting<?> setting) {
    return switch (setting.type()) {
      case FLAG -> Boolean.valueOf(setting.defaultText());
      case COUNT -> Long.valueOf(setting.defaultText());
      case RATIO -> Double.valueOf(setting.defaultText());
      default -> setting.defaultText();
    };
  }

  private static String type(Setting<?> setting) {
    return switch (setting.type()) {
      case FLAG -> "java.lang.Boolean";
      case COUNT -> "java.lang.Integer";
      case RATIO -> "java.lang.Double";
      case TIME -> "java.time.Duration";
      case SIZE -> "org.springframework.util.unit.DataSize";
      case CHOICE -> setting.choiceType().getName();
      case TEXT, FILE -> "java.lang.String";
      case LIST -> "java.util.List<java.lang.String>";
      case MAP -> "java.util.Map<java.lang.String,java.lang.String>";
    };
  }

  private static String json(Object tree) throws IOException {
    StringWriter out = new StringWriter();
    JsonWriter.to(out).tree(tree);
    return out.toString();
  }
}
