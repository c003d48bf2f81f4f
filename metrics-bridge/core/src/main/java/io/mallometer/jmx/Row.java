package io.mallometer.jmx;

import io.mallometer.model.FigureTree;
import java.util.Optional;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.CompositeDataView;
import javax.management.openmbean.CompositeType;
import org.jspecify.annotations.Nullable;

/**
 * A record as composite data for an MBean. It has an item for each component that {@link
 * FigureTree} publishes.
 *
 * <p>A proxy of {@code JMX.newMXBeanProxy} returns this class, because the JDK cannot map a record
 * with an {@code Optional}.
 */
public final class Row implements CompositeDataView {

  private final CompositeData data;

  private Row(CompositeData data) {
    this.data = data;
  }

  static @Nullable Row of(Optional<? extends Record> row) {
    return row.isPresent() ? of(row.get()) : null;
  }

  static Row of(Record row) {
    return new Row(OpenRecords.row(row));
  }

  /** Returns the record that a client received. */
  public static Row from(CompositeData data) {
    return new Row(data);
  }

  /**
   * Returns a value: text, a number, a boolean, an array, a {@link CompositeData} or a table. Null
   * if it is unknown.
   *
   * @param path the names of the components that lead to the value, such as {@code suspected},
   *     {@code bytes}, {@code value}
   */
  public @Nullable Object get(String... path) {
    @Nullable Object value = data;
    for (String name : path) {
      value = value instanceof CompositeData fields ? fields.get(name) : null;
    }
    return value;
  }

  /** Returns the record as text for people. */
  public String getText() {
    return OpenText.of(data);
  }

  /**
   * Returns all items. Ignores {@code type}, which the JDK derives from the getters of this class.
   */
  @Override
  public CompositeData toCompositeData(CompositeType type) {
    return data;
  }
}
