package io.mallometer.view;

import io.mallometer.internal.text.JsonWriter;
import java.io.IOException;
import java.io.Writer;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What one question is answered: a record of records, strings, numbers, truths, lists and maps. The
 * names of its components are those in JSON, in their order. JSON has no NaN: what is unknown is
 * null here, and left out there unless it is {@link Always} there.
 */
public interface View {

  /** A component that is null in JSON too while it is unknown. */
  @Target(ElementType.RECORD_COMPONENT)
  @Retention(RetentionPolicy.RUNTIME)
  @interface Always {}

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
    Map<String, @Nullable Object> tree = new LinkedHashMap<>();
    for (Component component : Component.of(fields.getClass())) {
      @Nullable Object value = component.valueIn(fields);
      if (value != null) {
        tree.put(component.name(), treeOf(value));
      } else if (component.isAlwaysThere()) {
        tree.put(component.name(), null);
      }
    }
    return tree;
  }
}
