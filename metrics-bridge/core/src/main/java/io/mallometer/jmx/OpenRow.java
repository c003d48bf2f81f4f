package io.mallometer.jmx;

import javax.management.openmbean.CompositeData;
import javax.management.openmbean.CompositeDataSupport;
import javax.management.openmbean.CompositeType;
import javax.management.openmbean.OpenDataException;
import javax.management.openmbean.OpenType;

/** A type of composite data. Clients can read the data without classes of mallometer. */
final class OpenRow {

  private final String[] items;
  private final CompositeType type;

  OpenRow(String name, String description, String[] items, OpenType<?>... types) {
    this.items = items;
    try {
      type = new CompositeType(name, description, items, items, types);
    } catch (OpenDataException e) {
      throw new IllegalStateException("a constant type is valid", e);
    }
  }

  /** Returns a row; the values are in the order of the items. */
  CompositeData of(Object... values) {
    try {
      return new CompositeDataSupport(type, items, values);
    } catch (OpenDataException e) {
      throw new IllegalStateException("the values are those of the type", e);
    }
  }
}
