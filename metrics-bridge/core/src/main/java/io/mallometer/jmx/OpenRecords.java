package io.mallometer.jmx;

import io.mallometer.model.Component;
import io.mallometer.model.FigureTree;
import io.mallometer.model.StackFrame;
import java.lang.reflect.Array;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.management.openmbean.ArrayType;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.CompositeDataSupport;
import javax.management.openmbean.CompositeType;
import javax.management.openmbean.OpenDataException;
import javax.management.openmbean.OpenType;
import javax.management.openmbean.SimpleType;
import javax.management.openmbean.TabularDataSupport;
import javax.management.openmbean.TabularType;
import org.jspecify.annotations.Nullable;

/**
 * Converts records to composite data, which clients can read without classes of mallometer. A list
 * becomes an array, a map becomes a table of {@code key} and {@code value}, and an unknown value
 * becomes null. The JDK's own mapping of records supports neither {@code Optional} nor {@code
 * Instant}.
 */
final class OpenRecords {

  private static final ClassValue<CompositeType> TYPES =
      new ClassValue<>() {
        @Override
        protected CompositeType computeValue(Class<?> kind) {
          return composite(kind);
        }
      };

  private OpenRecords() {}

  static CompositeData row(Record row) {
    return composite(TYPES.get(row.getClass()), FigureTree.fields(row));
  }

  static CompositeType type(Class<?> kind) {
    return TYPES.get(kind);
  }

  static OpenType<?> tableOf(Class<?> kind) {
    return array(TYPES.get(kind));
  }

  private static CompositeType composite(Class<?> kind) {
    Map<String, OpenType<?>> types = new LinkedHashMap<>();
    Map<String, String> meanings = new LinkedHashMap<>();
    for (Component component : Component.of(kind)) {
      types.put(component.name(), type(component.type(), component.unit().whole()));
      meanings.put(component.name(), component.meaning());
    }
    String[] names = types.keySet().toArray(String[]::new);
    try {
      return new CompositeType(
          kind.getSimpleName(),
          kind.getSimpleName(),
          names,
          meanings.values().toArray(String[]::new),
          types.values().toArray(OpenType<?>[]::new));
    } catch (OpenDataException e) {
      throw invalid(e);
    }
  }

  private static OpenType<?> type(Type type, boolean isWhole) {
    if (type instanceof ParameterizedType generic) {
      Type[] arguments = generic.getActualTypeArguments();
      OpenType<?> last = type(arguments[arguments.length - 1], isWhole);
      return generic.getRawType() == Optional.class
          ? last
          : generic.getRawType() == Map.class ? table(last) : array(last);
    }
    Class<?> kind = (Class<?>) type;
    if (kind == double.class || kind == Double.class) {
      return isWhole ? SimpleType.LONG : SimpleType.DOUBLE;
    }
    if (kind == Duration.class) {
      return SimpleType.DOUBLE;
    }
    if (kind == long.class || kind == Long.class) {
      return SimpleType.LONG;
    }
    if (kind == int.class || kind == Integer.class) {
      return SimpleType.INTEGER;
    }
    if (kind == boolean.class || kind == Boolean.class) {
      return SimpleType.BOOLEAN;
    }
    boolean isText =
        kind == String.class || kind == Instant.class || kind == StackFrame.class || kind.isEnum();
    return isText ? SimpleType.STRING : TYPES.get(kind);
  }

  private static OpenType<?> array(OpenType<?> element) {
    try {
      return new ArrayType<>(1, element);
    } catch (OpenDataException e) {
      throw invalid(e);
    }
  }

  static TabularType table(OpenType<?> value) {
    try {
      String[] items = {"key", "value"};
      CompositeType row =
          new CompositeType(
              "Row", "Row", items, items, new OpenType<?>[] {SimpleType.STRING, value});
      return new TabularType("Table", "Table", row, new String[] {"key"});
    } catch (OpenDataException e) {
      throw invalid(e);
    }
  }

  private static @Nullable Object value(OpenType<?> type, @Nullable Object value) {
    if (type instanceof CompositeType composite && value instanceof Map<?, ?> fields) {
      return composite(composite, fields);
    }
    if (type instanceof TabularType table && value instanceof Map<?, ?> map) {
      return rows(table, map);
    }
    if (type instanceof ArrayType<?> array && value instanceof List<?> list) {
      return elements(array.getElementOpenType(), list);
    }
    return value instanceof Number number ? number(type, number) : value;
  }

  private static CompositeData composite(CompositeType type, Map<?, ?> fields) {
    Map<String, @Nullable Object> items = new LinkedHashMap<>();
    for (String name : type.keySet()) {
      items.put(name, value(type.getType(name), fields.get(name)));
    }
    try {
      return new CompositeDataSupport(type, items);
    } catch (OpenDataException e) {
      throw invalid(e);
    }
  }

  /** Returns a map as a table. Values in the map may be null. */
  static TabularDataSupport rows(TabularType type, Map<?, ?> map) {
    TabularDataSupport table = new TabularDataSupport(type);
    map.forEach(
        (key, value) -> {
          Map<String, @Nullable Object> row = new LinkedHashMap<>();
          row.put("key", key);
          row.put("value", value);
          table.put(composite(type.getRowType(), row));
        });
    return table;
  }

  private static Object elements(OpenType<?> type, List<?> list) {
    try {
      Object array = Array.newInstance(Class.forName(type.getClassName()), list.size());
      for (int i = 0; i < list.size(); i++) {
        Array.set(array, i, value(type, list.get(i)));
      }
      return array;
    } catch (ClassNotFoundException e) {
      throw invalid(e);
    }
  }

  private static Object number(OpenType<?> type, Number number) {
    if (type == SimpleType.LONG) {
      return number.longValue();
    }
    return type == SimpleType.INTEGER ? (Object) number.intValue() : number.doubleValue();
  }

  private static IllegalStateException invalid(Exception cause) {
    return new IllegalStateException("types and values are those of the records", cause);
  }
}
