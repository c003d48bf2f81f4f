package io.mallometer.view;

import io.mallometer.internal.text.JsonWriter;
import io.mallometer.model.Account;
import io.mallometer.model.Estimate;
import io.mallometer.model.StackFrame;
import java.io.BufferedWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Answer to one request: a record of records, strings, numbers, truths, lists and maps. The names
 * of its components are those in JSON, in their order.
 *
 * <p>What is unknown is {@code NaN}, empty or null here, and left out of JSON unless it is {@link
 * Always} there. Times are in ISO 8601, stack frames are text, an estimate is an {@link
 * SitesView.Interval}, and {@link Whole} numbers have no fraction.
 */
public interface View {

  /** A component that is null in JSON while it is unknown. */
  @Target(ElementType.RECORD_COMPONENT)
  @Retention(RetentionPolicy.RUNTIME)
  @interface Always {}

  /**
   * This view as ordered maps, lists, strings, numbers and truths, without what is unknown. Every
   * version of every library for JSON writes those alike.
   */
  default Object tree() {
    return this instanceof Record fields ? treeOf(fields) : Map.of();
  }

  /** Writes {@link #tree()} as JSON. */
  default void write(Writer out) throws IOException {
    JsonWriter.to(out).tree(tree());
  }

  /** Writes JSON in UTF-8. Flushes the stream and does not close it. */
  default void write(OutputStream out) throws IOException {
    Writer text = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8));
    write(text);
    text.flush();
  }

  /** JSON in UTF-8. */
  default byte[] json() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try {
      write(out);
    } catch (IOException e) {
      throw new UncheckedIOException("memory takes all that is written to it", e);
    }
    return out.toByteArray();
  }

  private static Map<String, @Nullable Object> treeOf(Record fields) {
    Map<String, @Nullable Object> tree = new LinkedHashMap<>();
    for (Component component : Component.of(fields.getClass())) {
      @Nullable Object value = treeOf(component.valueIn(fields), component.isWhole());
      if (value != null || component.isAlwaysThere()) {
        tree.put(component.name(), value);
      }
    }
    return tree;
  }

  /** Null for what is unknown. */
  private static @Nullable Object treeOf(@Nullable Object value, boolean isWhole) {
    if (value instanceof Optional<?> optional) {
      return treeOf(optional.orElse(null), isWhole);
    }
    if (value instanceof Double number) {
      return number(number, isWhole);
    }
    if (value instanceof Instant || value instanceof StackFrame) {
      return value.toString();
    }
    if (value instanceof Account.Kind kind) {
      return kind.tag();
    }
    if (value instanceof Estimate estimate) {
      return treeOf(SitesView.Interval.of(estimate));
    }
    if (value instanceof Record fields) {
      return treeOf(fields);
    }
    if (value instanceof List<?> list) {
      return new MappedRows<>(list, element -> treeOf(element, isWhole));
    }
    return value;
  }

  private static @Nullable Object number(double number, boolean isWhole) {
    if (!Double.isFinite(number)) {
      return null;
    }
    return isWhole ? (Object) (long) number : (Object) number;
  }
}
