package io.mallometer.internal.symbol;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads the path of a function from a symbol of Rust's v0 scheme (RFC 2603), such as {@code
 * <alloc::vec::Vec as core::ops::Drop>::drop}. Omits generic arguments and hashes. The number of
 * steps has a limit, because following back references can take exponential time.
 */
final class RustName extends MangledName {

  private static final int MOST_STEPS = 5_000;
  private static final int MOST_DEPTH = 100;
  private static final int MOST_TEXT = 1 << 11;
  private static final long MOST_NUMBER = 1L << 32;

  private static final String BUILTIN_CODES = "abcdefhijlmnostuvxyz";
  private static final List<String> BUILTIN_TYPES =
      List.of(
          ("i8 bool char f64 str f32 u8 isize usize i32 u32 i128 u128 i16 u16 () ... i64 u64 !")
              .split(" "));

  private int steps;

  private RustName(String symbol) {
    super(symbol);
  }

  /**
   * Returns the path of the function. Empty if the symbol cannot be read or belongs to another
   * scheme.
   */
  static Optional<String> of(String symbol) {
    if (!symbol.startsWith("_R")) {
      return Optional.empty();
    }
    try {
      String path = new RustName(symbol).path();
      return path.isEmpty() ? Optional.empty() : Optional.of(path);
    } catch (Unreadable e) {
      return Optional.empty();
    }
  }

  private void enter() {
    require(++depth <= MOST_DEPTH && ++steps <= MOST_STEPS);
  }

  private String left(String text) {
    depth--;
    require(text.length() <= MOST_TEXT);
    return text;
  }

  private String path() {
    enter();
    String path =
        switch (next()) {
          case 'C' -> identifier().text();
          case 'M' -> {
            implementation();
            yield "<" + type() + ">";
          }
          case 'X' -> {
            implementation();
            yield "<" + type() + " as " + path() + ">";
          }
          case 'Y' -> "<" + type() + " as " + path() + ">";
          case 'N' -> nested();
          case 'I' -> {
            String generic = path();
            while (!skip('E')) {
              genericArgument();
            }
            yield generic;
          }
          case 'B' -> {
            int end = reference();
            String repeated = path();
            at = end;
            yield repeated;
          }
          default -> throw new Unreadable();
        };
    return left(path);
  }

  /** Skips the path of an {@code impl} block, which is not part of the name. */
  private void implementation() {
    if (peek() == 's') {
      disambiguator();
    }
    path();
  }

  private String nested() {
    char namespace = next();
    String scope = path();
    Identifier identifier = identifier();
    return scope
        + "::"
        + switch (namespace) {
          case 'C' -> "{closure#" + identifier.number() + "}";
          case 'S' -> "{shim:" + identifier.text() + "}";
          default -> identifier.text();
        };
  }

  private record Identifier(long number, String text) {}

  private Identifier identifier() {
    long number = peek() == 's' ? disambiguator() : 0;
    skip('u');
    int length = 0;
    while (isDigit(peek()) && length < MOST_TEXT) {
      length = length * 10 + next() - '0';
      if (length == 0) {
        break;
      }
    }
    skip('_');
    require(at + length <= symbol.length());
    at += length;
    return new Identifier(number, symbol.substring(at - length, at));
  }

  private long disambiguator() {
    at++;
    return number() + 1;
  }

  /** Reads a number in base 62: {@code _} is 0, {@code 0_} is 1, and so on. */
  private long number() {
    if (skip('_')) {
      return 0;
    }
    long value = 0;
    while (peek() != '_') {
      // An overflow is harmless: only hashes of crates are so large, and their values are not used.
      value = value * 62 + digit(next());
    }
    at++;
    return value + 1;
  }

  private static int digit(char c) {
    if (isDigit(c)) {
      return c - '0';
    }
    if (c >= 'a' && c <= 'z') {
      return c - 'a' + 10;
    }
    if (c >= 'A' && c <= 'Z') {
      return c - 'A' + 36;
    }
    throw new Unreadable();
  }

  /** Moves to the target of a back reference, and returns the end of the back reference. */
  private int reference() {
    int start = at - 1;
    long target = number();
    require(target >= 0 && target <= MOST_NUMBER && target + 2 < start);
    int end = at;
    at = (int) target + 2;
    return end;
  }

  private void genericArgument() {
    if (skip('L')) {
      number();
    } else if (skip('K')) {
      constant();
    } else {
      type();
    }
  }

  private String type() {
    enter();
    int builtin = BUILTIN_CODES.indexOf(peek());
    String type = "_";
    if (peek() == 'p') {
      at++;
    } else if (builtin >= 0) {
      at++;
      type = BUILTIN_TYPES.get(builtin);
    } else {
      type = compoundType();
    }
    return left(type);
  }

  private String compoundType() {
    char kind = peek();
    if ("ASTRQPOFDB".indexOf(kind) < 0) {
      return path();
    }
    at++;
    return switch (kind) {
      case 'A' -> {
        String element = type();
        constant();
        yield "[" + element + "]";
      }
      case 'S' -> "[" + type() + "]";
      case 'T' -> {
        List<String> members = new ArrayList<>();
        while (!skip('E')) {
          members.add(type());
        }
        yield "(" + String.join(", ", members) + ")";
      }
      case 'R', 'Q' -> {
        if (skip('L')) {
          number();
        }
        yield "&" + type();
      }
      case 'P', 'O' -> "*" + type();
      case 'F' -> {
        functionType();
        yield "_";
      }
      case 'D' -> traits();
      default -> repeatedType();
    };
  }

  private String repeatedType() {
    int end = reference();
    String repeated = type();
    at = end;
    return repeated;
  }

  private void functionType() {
    if (skip('G')) {
      number();
    }
    skip('U');
    if (skip('K') && !skip('C')) {
      identifier();
    }
    while (!skip('E')) {
      type();
    }
    type();
  }

  private String traits() {
    if (skip('G')) {
      number();
    }
    List<String> traits = new ArrayList<>();
    while (!skip('E')) {
      traits.add(path());
      while (skip('p')) {
        identifier();
        type();
      }
    }
    require(skip('L'));
    number();
    return "dyn " + String.join(" + ", traits);
  }

  private void constant() {
    enter();
    if (skip('B')) {
      int end = reference();
      constant();
      at = end;
    } else if (!skip('p')) {
      type();
      skip('n');
      while (!skip('_')) {
        digit(next());
      }
    }
    depth--;
  }
}
