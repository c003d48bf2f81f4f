package io.mallometer.internal.text;

import java.util.Arrays;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Finds values, such as constants of an enum, by the names that users write in URLs, operations and
 * options.
 */
public final class Choice {

  private Choice() {}

  /**
   * Returns the value with this name.
   *
   * @param what the kind of value, for the message
   * @param all all values
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
