package io.mallometer.jmx;

import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.List;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.TabularData;
import org.jspecify.annotations.Nullable;

/** Open data as text for people: a line for each item, indented below its parent. */
final class OpenText {

  private OpenText() {}

  /** Returns {@code value} as text without a final newline; empty if {@code value} is null. */
  static String of(@Nullable Object value) {
    List<String> lines = new ArrayList<>();
    add(lines, "", "", value);
    return String.join("\n", lines);
  }

  private static void add(List<String> lines, String indent, String name, @Nullable Object value) {
    if (value instanceof CompositeData fields) {
      addName(lines, indent, name);
      for (String key : fields.getCompositeType().keySet()) {
        add(lines, below(indent, name), key, fields.get(key));
      }
    } else if (value instanceof TabularData table) {
      addName(lines, indent, name);
      for (Object row : table.values()) {
        CompositeData fields = (CompositeData) row;
        add(lines, below(indent, name), String.valueOf(fields.get("key")), fields.get("value"));
      }
    } else if (value != null && value.getClass().isArray()) {
      addName(lines, indent, name);
      for (int i = 0; i < Array.getLength(value); i++) {
        add(lines, below(indent, name), "-", Array.get(value, i));
      }
    } else if (value != null) {
      lines.add(indent + (name.isEmpty() ? "" : name + (name.equals("-") ? " " : ": ")) + value);
    }
  }

  private static void addName(List<String> lines, String indent, String name) {
    if (!name.isEmpty()) {
      lines.add(indent + name);
    }
  }

  private static String below(String indent, String name) {
    return name.isEmpty() ? indent : indent + "  ";
  }
}
