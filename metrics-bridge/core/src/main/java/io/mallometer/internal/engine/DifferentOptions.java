package io.mallometer.internal.engine;

import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Compares two records of options. */
final class DifferentOptions {

  private DifferentOptions() {}

  /**
   * Returns the names of the options that differ, such as {@code pollInterval} and {@code
   * leaks.timeScale}.
   */
  static List<String> names(Record one, Record other) {
    List<String> names = new ArrayList<>();
    for (RecordComponent component : one.getClass().getRecordComponents()) {
      Object ofOne = value(component, one);
      Object ofOther = value(component, other);
      if (ofOne instanceof Record options && ofOther instanceof Record others) {
        names(options, others).forEach(name -> names.add(component.getName() + "." + name));
      } else if (!Objects.equals(ofOne, ofOther)) {
        names.add(component.getName());
      }
    }
    return names;
  }

  private static Object value(RecordComponent component, Record options) {
    try {
      return component.getAccessor().invoke(options);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("the accessors of options are public and return", e);
    }
  }
}
