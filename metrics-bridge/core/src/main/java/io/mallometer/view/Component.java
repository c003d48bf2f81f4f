package io.mallometer.view;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.RecordComponent;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One component of a kind of record. Known once for each kind: the JDK makes its own description
 * anew whenever it is asked for, and with it what calls the accessor, which took longer than to
 * write what the accessor answers.
 *
 * @param name as in JSON
 * @param isAlwaysThere whether it is {@code null} in JSON while it is unknown
 * @param isWhole whether its numbers have no fraction in JSON
 * @param accessor takes the record; a handle, as a method that is called often gets a class of its
 *     own on Java 17
 */
record Component(String name, boolean isAlwaysThere, boolean isWhole, MethodHandle accessor) {

  private static final MethodType OF_ANY = MethodType.methodType(Object.class, Object.class);

  private static final ClassValue<List<Component>> KNOWN =
      new ClassValue<>() {
        @Override
        protected List<Component> computeValue(Class<?> kind) {
          return Stream.of(kind.getRecordComponents()).map(Component::of).toList();
        }
      };

  /** The components of a kind of record, in their order. */
  static List<Component> of(Class<? extends Record> kind) {
    return KNOWN.get(kind);
  }

  private static Component of(RecordComponent component) {
    try {
      return new Component(
          component.getName(),
          component.isAnnotationPresent(View.Always.class),
          component.isAnnotationPresent(Whole.class),
          MethodHandles.lookup().unreflect(component.getAccessor()).asType(OF_ANY));
    } catch (IllegalAccessException e) {
      throw unreadable(component.getName(), e);
    }
  }

  /** What a record has there. */
  @Nullable Object valueIn(Record fields) {
    try {
      return (Object) accessor.invokeExact((Object) fields);
    } catch (Throwable e) {
      throw unreadable(name, e);
    }
  }

  private static IllegalStateException unreadable(String name, Throwable cause) {
    return new IllegalStateException(name + " of a view cannot be read", cause);
  }
}
