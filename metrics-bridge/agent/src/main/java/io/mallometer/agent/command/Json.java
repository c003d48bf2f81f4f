package io.mallometer.agent.command;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads JSON, and gives what is in it by path. What is missing, null or of another kind is unknown:
 * NaN, empty.
 */
final class Json {

  private static final int DEEPEST = 200;

  /** A map, a list, a text, a number, a truth; null for null and for what is missing. */
  private final @Nullable Object value;

  private Json(@Nullable Object value) {
    this.value = value;
  }

  /**
   * Reads a whole text.
   *
   * @throws IllegalArgumentException if it is no JSON; the message says where
   */
  static Json parse(String text) {
    Reader reader = new Reader(text);
    Json json = new Json(reader.value(0));
    reader.end();
    return json;
  }

  /** What is under a name in an object. */
  Json at(String... names) {
    @Nullable Object found = value;
    for (String name : names) {
      found = found instanceof Map<?, ?> map ? map.get(name) : null;
    }
    return new Json(found);
  }

  boolean present() {
    return value != null;
  }

  String text() {
    return value == null ? "" : value.toString();
  }

  double number() {
    return value instanceof Double number ? number : Double.NaN;
  }

  boolean truth() {
    return Boolean.TRUE.equals(value);
  }

  List<Json> list() {
    return value instanceof List<?> list ? list.stream().map(Json::new).toList() : List.of();
  }

  List<String> texts() {
    return list().stream().map(Json::text).toList();
  }

  /** The names in an object, in their order. */
  List<String> names() {
    return value instanceof Map<?, ?> map
        ? map.keySet().stream().map(Object::toString).toList()
        : List.of();
  }

  /** The number in an estimate, or a number itself. */
  double estimate() {
    return at("value").present() ? at("value").number() : number();
  }

  Optional<Json> first(String name, String expected) {
    return list().stream().filter(one -> one.at(name).text().equals(expected)).findFirst();
  }

  /** Goes through a text once. */
  private static final class Reader {
    private final String text;
    private int position;

    Reader(String text) {
      this.text = text;
    }

    @Nullable Object value(int depth) {
      if (depth > DEEPEST) {
        throw wrong("is nested too deep");
      }
      return switch (peek()) {
        case '{' -> object(depth);
        case '[' -> array(depth);
        case '"' -> string();
        case 't' -> word("true", Boolean.TRUE);
        case 'f' -> word("false", Boolean.FALSE);
        case 'n' -> word("null", null);
        default -> number();
      };
    }

    void end() {
      blanks();
      if (position < text.length()) {
        throw wrong("has more than one value");
      }
    }

    private Map<String, Object> object(int depth) {
      Map<String, Object> map = new LinkedHashMap<>();
      position++;
      while (peek() != '}') {
        String name = string();
        expect(':');
        @Nullable Object inner = value(depth + 1);
        if (inner != null) {
          map.put(name, inner);
        }
        if (peek() != '}') {
          expect(',');
        }
      }
      position++;
      return map;
    }

    private List<Object> array(int depth) {
      List<Object> list = new ArrayList<>();
      position++;
      while (peek() != ']') {
        @Nullable Object inner = value(depth + 1);
        if (inner != null) {
          list.add(inner);
        }
        if (peek() != ']') {
          expect(',');
        }
      }
      position++;
      return list;
    }

    private String string() {
      expect('"');
      StringBuilder string = new StringBuilder();
      while (next() != '"') {
        char c = text.charAt(position - 1);
        string.append(c == '\\' ? escaped() : c);
      }
      return string.toString();
    }

    private char escaped() {
      char c = next();
      return switch (c) {
        case 'b' -> '\b';
        case 'f' -> '\f';
        case 'n' -> '\n';
        case 'r' -> '\r';
        case 't' -> '\t';
        case 'u' -> {
          int from = position;
          position += 4;
          yield (char) Integer.parseInt(text, from, Math.min(position, text.length()), 16);
        }
        default -> c;
      };
    }

    private Double number() {
      int from = position;
      while (position < text.length() && "+-.0123456789eE".indexOf(text.charAt(position)) >= 0) {
        position++;
      }
      if (from == position) {
        throw wrong("has no value");
      }
      return Double.valueOf(text.substring(from, position));
    }

    private @Nullable Object word(String word, @Nullable Object meaning) {
      if (!text.startsWith(word, position)) {
        throw wrong("has no value");
      }
      position += word.length();
      return meaning;
    }

    private void expect(char c) {
      if (peek() != c) {
        throw wrong("has no '" + c + "'");
      }
      position++;
    }

    private char peek() {
      blanks();
      if (position >= text.length()) {
        throw wrong("ends");
      }
      return text.charAt(position);
    }

    private char next() {
      if (position >= text.length()) {
        throw wrong("ends");
      }
      return text.charAt(position++);
    }

    private void blanks() {
      while (position < text.length() && Character.isWhitespace(text.charAt(position))) {
        position++;
      }
    }

    private IllegalArgumentException wrong(String what) {
      return new IllegalArgumentException("no JSON: it " + what + " at character " + position);
    }
  }
}
