package io.mallometer.internal.gate;

import java.util.Arrays;
import java.util.function.Function;
import java.util.stream.Collectors;

final class OptionByName {

  private OptionByName() {}

  /**
   * Finds the value that has a name.
   *
   * @param what the kind of value, for the message
   * @throws IllegalArgumentException if no value has the name; the message lists all names
   */
  static <T> T of(String what, String word, T[] values, Function<T, String> name) {
    return Arrays.stream(values)
        .filter(value -> name.apply(value).equals(word))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    Arrays.stream(values)
                        .map(name)
                        .collect(
                            Collectors.joining(
                                ", ",
                                "%s is not a %s; choose one of ".formatted(word, what),
                                ""))));
  }
}
