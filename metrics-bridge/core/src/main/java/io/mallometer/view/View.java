package io.mallometer.view;

import io.mallometer.report.JsonWriter;
import java.io.IOException;
import java.io.Writer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What one question is answered: a record of records, strings, numbers, truths, lists and maps. The
 * names of its components are those in JSON, in their order. JSON has no NaN: what is unknown is
 * null here, and left out there.
 */
public interface View {

  /**
   * This view as ordered maps, lists, strings, numbers and truths, without what is unknown. Every
   * version of every library for JSON writes those alike.
   */
  default Object tree() {
    return treeOf(this);
  }

  /** Writes {@link #tree()} as JSON. */
  default void write(Writer out) throws IOException {
    JsonWriter.to(out).tree(tree());
  }

  private static Object treeOf(Object value) {
    if (value instanceof Record fields) {
      return treeOf(fields);
    }
    if (value instanceof List<?> list) {
      return new MappedRows<>(list, View::treeOf);
    }
    return value;
  }

  private static Map<String, Object> treeOf(Record fields) {
    Map<String, Object> tree = new LinkedHashMap<>();
    for (RecordComponent component : fields.getClass().getRecordComponents()) {
      @Nullable Object value = value(component, fields);
      if (value != null) {
        tree.put(component.getName(), treeOf(value));
      }
    }
    return tree;
  }

  private static @Nullable Object value(RecordComponent component, Record fields) {
    try {
      return component.getAccessor().invoke(fields);
    } catch (IllegalAccessException | InvocationTargetException e) {
      throw new IllegalStateException(component + " of a view cannot be read", e);
    }
  }
}
