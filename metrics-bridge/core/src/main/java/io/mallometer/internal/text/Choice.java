package io.mallometer.internal.text;

import java.util.Arrays;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Choosing by name, as people do in addresses, operations and options. */
public final class Choice {

  private Choice() {}

  /**
   * The one of a name.
   *
   * @param what what is chosen, for the message
   * @param all those that there are
   * @param id the name of each
   * @throws IllegalArgumentException if there is none; the message says which there are
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
