package io.mallometer.model;

import java.time.Duration;
import java.time.Instant;
import java.util.AbstractList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.RandomAccess;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Converts a record to the tree of maps, lists, strings, numbers and booleans that JSON and the
 * MBeans publish.
 *
 * <p>Unknown values are {@code NaN}, infinite numbers, an empty {@code Optional}, null, and a
 * record without a known value. The published form of a record omits them, but has null for an
 * unknown component with {@link Figure#always}. In lists and maps, null stands for an unknown
 * value.
 *
 * <p>Times are in ISO 8601, durations in seconds, and stack frames are text. An enum constant is
 * represented by its {@link Tagged#tag}, or by its Java name if it is not {@link Tagged}.
 */
public final class FigureTree {

  private FigureTree() {}

  /** Returns the published form; null for an unknown value. */
  public static @Nullable Object of(@Nullable Object value) {
    return of(value, false);
  }

  /** Returns the published form of a record; empty if no value is known. */
  public static Map<String, @Nullable Object> fields(Record fields) {
    Map<String, @Nullable Object> tree = new LinkedHashMap<>();
    for (Component component : Component.of(fields.getClass())) {
      @Nullable Object value = of(component.valueIn(fields), component.unit().whole());
      if (value != null || component.always()) {
        tree.put(component.name(), value);
      }
    }
    return tree;
  }

  private static @Nullable Object of(@Nullable Object value, boolean isWhole) {
    if (value instanceof Optional<?> optional) {
      return of(optional.orElse(null), isWhole);
    }
    if (value instanceof Double number) {
      return number(number, isWhole);
    }
    if (value instanceof Instant || value instanceof StackFrame) {
      return value.toString();
    }
    if (value instanceof Duration duration) {
      return duration.toNanos() / 1e9;
    }
    if (value instanceof Enum<?> constant) {
      return constant instanceof Tagged tagged ? tagged.tag() : constant.name();
    }
    if (value instanceof Record fields) {
      Map<String, @Nullable Object> tree = fields(fields);
      return tree.isEmpty() ? null : tree;
    }
    if (value instanceof List<?> list) {
      return new Mapped(list, isWhole);
    }
    if (value instanceof Map<?, ?> map) {
      Map<String, @Nullable Object> tree = new LinkedHashMap<>();
      new TreeMap<>(map).forEach((key, one) -> tree.put(String.valueOf(of(key)), of(one, isWhole)));
      return tree;
    }
    return value;
  }

  private static @Nullable Object number(double number, boolean isWhole) {
    if (!Double.isFinite(number)) {
      return null;
    }
    return isWhole ? (Object) Math.round(number) : (Object) number;
  }

  /**
   * A list that creates its elements at each access and does not keep them. If all were kept, the
   * stacks of ten thousand call sites might not fit into a small heap.
   */
  private static final class Mapped extends AbstractList<@Nullable Object> implements RandomAccess {

    private final List<?> elements;
    private final boolean isWhole;

    Mapped(List<?> elements, boolean isWhole) {
      this.elements = elements;
      this.isWhole = isWhole;
    }

    @Override
    public @Nullable Object get(int index) {
      return of(elements.get(index), isWhole);
    }

    @Override
    public int size() {
      return elements.size();
    }
  }
}
