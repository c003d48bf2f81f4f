package io.mallometer.model;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A published component of a record class. The components of each record class are read once and
 * kept, because reflection creates new objects at every call.
 *
 * @param name the name in JSON and in composite data
 * @param meaning the meaning; the name if no {@link Figure} states one
 * @param unit the unit of the component's numbers
 * @param always whether JSON contains the component as {@code null} while it is unknown
 * @param grows whether the numbers only grow while the process lives
 * @param meter the meter that shows the component without labels; empty if there is none
 * @param attribute the attribute of an MBean that shows the component as one value; empty if there
 *     is none
 * @param type the type
 * @param accessor returns the value in a record. A method handle is used because reflection on Java
 *     17 generates a class for a method that is called often
 * @param number returns a primitive number in a record without allocating an object; null if the
 *     component is not a primitive number
 */
public record Component(
    String name,
    String meaning,
    Figure.Unit unit,
    boolean always,
    boolean grows,
    String meter,
    String attribute,
    Type type,
    MethodHandle accessor,
    @Nullable MethodHandle number) {

  private static final MethodType OF_ANY = MethodType.methodType(Object.class, Object.class);

  private static final MethodType OF_NUMBER = MethodType.methodType(double.class, Object.class);

  private static final ClassValue<List<Component>> KNOWN =
      new ClassValue<>() {
        @Override
        protected List<Component> computeValue(Class<?> kind) {
          return read(kind, MethodHandles.identity(Object.class));
        }
      };

  /**
   * Returns the published components of a record class: first the components with a {@link Figure},
   * in their order, then the methods with a {@link Figure}, sorted by name. A record class without
   * any {@link Figure} publishes all of its components.
   */
  public static List<Component> of(Class<?> kind) {
    return KNOWN.get(kind);
  }

  /**
   * Returns a published component of a record class.
   *
   * @throws IllegalArgumentException if no component has this name
   */
  public static Component of(Class<?> kind, String name) {
    for (Component component : of(kind)) {
      if (component.name.equals(name)) {
        return component;
      }
    }
    throw new IllegalArgumentException(kind.getSimpleName() + " does not publish " + name);
  }

  /**
   * Returns the given record classes and all record classes that occur in their published
   * components.
   */
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
      Arrays.stream(kind.getRecordComponents())
          .filter(part -> isInline(part.getAccessor()))
          .forEach(part -> reach(part.getType(), known));
      of(kind).forEach(component -> reach(component.type(), known));
    }
  }

  private static List<Component> read(Class<?> kind, MethodHandle container) {
    RecordComponent[] all = kind.getRecordComponents();
    List<Component> annotated = new ArrayList<>();
    List<String> names = new ArrayList<>();
    for (RecordComponent component : all) {
      names.add(component.getName());
      if (component.isAnnotationPresent(Figure.class)) {
        annotated.addAll(published(component.getAccessor(), container));
      }
    }
    Arrays.stream(kind.getDeclaredMethods())
        .filter(method -> method.isAnnotationPresent(Figure.class))
        .filter(method -> !names.contains(method.getName()))
        .sorted(Comparator.comparing(Method::getName))
        .forEach(method -> annotated.add(of(method, container)));
    return annotated.isEmpty()
        ? Arrays.stream(all).map(component -> of(component.getAccessor(), container)).toList()
        : List.copyOf(annotated);
  }

  private static boolean isInline(Method accessor) {
    Figure figure = accessor.getAnnotation(Figure.class);
    return figure != null && figure.inline();
  }

  /**
   * Returns the component that {@code accessor} reads. If {@link Figure#inline} is set, returns the
   * components of the record that {@code accessor} returns.
   *
   * @param container takes the record that is read, and returns the record on which {@code
   *     accessor} is called: the same one or one nested in it
   */
  private static List<Component> published(Method accessor, MethodHandle container) {
    Component whole = of(accessor, container);
    return isInline(accessor) ? read(accessor.getReturnType(), whole.accessor) : List.of(whole);
  }

  private static Component of(Method accessor, MethodHandle container) {
    Figure figure = accessor.getAnnotation(Figure.class);
    Class<?> type = accessor.getReturnType();
    try {
      MethodHandle handle = MethodHandles.lookup().unreflect(accessor);
      return new Component(
          accessor.getName(),
          figure == null ? accessor.getName() : figure.value(),
          figure == null ? Figure.Unit.NONE : figure.unit(),
          figure != null && figure.always(),
          figure != null && figure.grows(),
          figure == null ? "" : figure.meter(),
          figure == null ? "" : figure.attribute(),
          accessor.getGenericReturnType(),
          MethodHandles.filterReturnValue(container, handle.asType(OF_ANY)),
          type.isPrimitive() && type != boolean.class
              ? MethodHandles.filterReturnValue(container, handle.asType(OF_NUMBER))
              : null);
    } catch (IllegalAccessException e) {
      throw unreadable(accessor.getName(), e);
    }
  }

  /** Returns the component's value in a record. */
  public @Nullable Object valueIn(Record fields) {
    try {
      return (Object) accessor.invokeExact((Object) fields);
    } catch (Throwable e) {
      throw unreadable(name, e);
    }
  }

  /**
   * Returns the component's number in a record; {@code NaN} if unknown. A time is the number of
   * seconds since 1970.
   */
  public double numberIn(Record fields) {
    if (number == null) {
      return valueIn(fields) instanceof Instant time ? time.getEpochSecond() : Double.NaN;
    }
    try {
      return (double) number.invokeExact((Object) fields);
    } catch (Throwable e) {
      throw unreadable(name, e);
    }
  }

  private static IllegalStateException unreadable(String name, Throwable cause) {
    return new IllegalStateException(name + " of a record cannot be read", cause);
  }
}
