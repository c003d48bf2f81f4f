package io.mallometer.model;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A published component of a kind of record. The components of a kind are read once, when one of
 * its records is first published: the JDK makes its own description anew for each caller.
 *
 * @param name the name in JSON and in composite data
 * @param meaning what it is; its name where no {@link Figure} says more
 * @param unit the unit of its numbers
 * @param always whether it is {@code null} in JSON while it is unknown
 * @param inline whether its own components stand in place of it in JSON
 * @param type its type
 * @param accessor takes the record; a handle, because a method that is called often gets a class of
 *     its own on Java 17
 */
public record Component(
    String name,
    String meaning,
    Figure.Unit unit,
    boolean always,
    boolean inline,
    Type type,
    MethodHandle accessor) {

  private static final MethodType OF_ANY = MethodType.methodType(Object.class, Object.class);

  private static final ClassValue<List<Component>> KNOWN =
      new ClassValue<>() {
        @Override
        protected List<Component> computeValue(Class<?> kind) {
          return read(kind);
        }
      };

  /**
   * Returns the published components of a kind of record in their order, then the figures that it
   * computes, by name. A record without any {@link Figure} composes others: all of it is published.
   */
  public static List<Component> of(Class<?> kind) {
    return KNOWN.get(kind);
  }

  /** Returns the kinds of records that are published with these, themselves included. */
  public static Set<Class<?>> reachable(Collection<? extends Class<?>> kinds) {
    Set<Class<?>> known = new LinkedHashSet<>();
    kinds.forEach(kind -> reach(kind, known));
    return known;
  }

  private static void reach(Type type, Set<Class<?>> known) {
    if (type instanceof ParameterizedType generic) {
      for (Type argument : generic.getActualTypeArguments()) {
        reach(argument, known);
      }
    } else if (type instanceof Class<?> kind
        && kind.isRecord()
        && kind != StackFrame.class
        && known.add(kind)) {
      of(kind).forEach(component -> reach(component.type(), known));
    }
  }

  private static List<Component> read(Class<?> kind) {
    RecordComponent[] all = kind.getRecordComponents();
    List<Component> annotated = new ArrayList<>();
    List<String> names = new ArrayList<>();
    for (RecordComponent component : all) {
      names.add(component.getName());
      if (component.isAnnotationPresent(Figure.class)) {
        annotated.add(of(component.getAccessor()));
      }
    }
    Arrays.stream(kind.getDeclaredMethods())
        .filter(method -> method.isAnnotationPresent(Figure.class))
        .filter(method -> !names.contains(method.getName()))
        .sorted(Comparator.comparing(Method::getName))
        .forEach(method -> annotated.add(of(method)));
    return annotated.isEmpty()
        ? Arrays.stream(all).map(RecordComponent::getAccessor).map(Component::of).toList()
        : List.copyOf(annotated);
  }

  private static Component of(Method accessor) {
    Figure figure = accessor.getAnnotation(Figure.class);
    try {
      return new Component(
          accessor.getName(),
          figure == null ? accessor.getName() : figure.value(),
          figure == null ? Figure.Unit.NONE : figure.unit(),
          figure != null && figure.always(),
          figure != null && figure.inline(),
          accessor.getGenericReturnType(),
          MethodHandles.lookup().unreflect(accessor).asType(OF_ANY));
    } catch (IllegalAccessException e) {
      throw unreadable(accessor.getName(), e);
    }
  }

  /** Returns the value in a record. */
  @Nullable Object valueIn(Record fields) {
    try {
      return (Object) accessor.invokeExact((Object) fields);
    } catch (Throwable e) {
      throw unreadable(name, e);
    }
  }

  private static IllegalStateException unreadable(String name, Throwable cause) {
    return new IllegalStateException(name + " of a record cannot be read", cause);
  }
}
