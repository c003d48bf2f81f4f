package io.mallometer.internal.text;

import java.util.Arrays;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Finds a value, such as a constant of an enum, by the name that a user writes. */
public final class Choice {

  private Choice() {}

  /**
   * Returns the value with this name.
   *
   * @param what the kind of value, for the message
   * @param id returns the name of a value
   * @throws IllegalArgumentException if no value has this name; the message lists all names
   */
  public static <E> E of(String what, String name, E[] all, Function<E, String> id) {
    return Arrays.stream(all)
        .filter(one -> id.apply(one).equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "%s is '%s' and must be one of %s"
                        .formatted(
                            what,
                            name,
                            Arrays.stream(all).map(id).collect(Collectors.joining(", ")))));
  }
}
