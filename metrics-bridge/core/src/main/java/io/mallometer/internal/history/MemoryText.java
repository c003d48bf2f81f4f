package io.mallometer.internal.history;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A text that Java writes into the recording: lines of words that tabs separate. The first word
 * names the kind of line. Readers skip unknown lines, so later versions may write more.
 */
final class MemoryText {

  /**
   * The line with the bytes that were live before an attach. Live bytes are these bytes plus the
   * allocated minus the freed bytes.
   */
  static final String BEFORE = "live-before-bytes";

  private final List<List<String>> lines = new ArrayList<>();

  static MemoryText parse(String text) {
    MemoryText parsed = new MemoryText();
    for (String line : text.split("\n")) {
      parsed.lines.add(Arrays.asList(line.split("\t", -1)));
    }
    return parsed;
  }

  MemoryText line(String first, Object... more) {
    List<String> words = new ArrayList<>(List.of(first));
    for (Object word : more) {
      words.add(String.valueOf(word).replaceAll("\\p{Cc}", " "));
    }
    lines.add(words);
    return this;
  }

  MemoryText figure(String first, double value) {
    return Double.isFinite(value) ? line(first, (long) value) : this;
  }

  Optional<String> word(String first) {
    return all(first).stream().filter(line -> line.size() > 1).map(line -> line.get(1)).findFirst();
  }

  OptionalLong number(String first) {
    return word(first).map(MemoryText::asNumber).orElse(OptionalLong.empty());
  }

  Map<String, Long> table(String first) {
    Map<String, Long> table = new LinkedHashMap<>();
    for (List<String> line : all(first)) {
      if (line.size() > 2) {
        asNumber(line.get(2)).ifPresent(number -> table.put(line.get(1), number));
      }
    }
    return table;
  }

  List<List<String>> all(String first) {
    return lines.stream().filter(line -> line.get(0).equals(first)).toList();
  }

  private static OptionalLong asNumber(String word) {
    try {
      return OptionalLong.of(Long.parseLong(word));
    } catch (NumberFormatException e) {
      return OptionalLong.empty();
    }
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    lines.forEach(line -> text.append(String.join("\t", line)).append('\n'));
    return text.toString();
  }
}
