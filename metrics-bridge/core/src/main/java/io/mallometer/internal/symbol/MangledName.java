package io.mallometer.internal.symbol;

/** A mangled symbol that is read from its beginning to its end, character by character. */
abstract class MangledName {

  /** Thrown if the symbol does not follow the grammar of its class. */
  static final class Unreadable extends RuntimeException {

    private static final long serialVersionUID = 1;

    Unreadable() {
      super(null, null, false, false);
    }
  }

  final String symbol;

  /** The index of the next character, at first behind the two that all symbols begin with. */
  int at = 2;

  int depth;

  MangledName(String symbol) {
    this.symbol = symbol;
  }

  static void require(boolean readable) {
    if (!readable) {
      throw new Unreadable();
    }
  }

  final char peek() {
    return peek(0);
  }

  /** Returns a character further on; 0 behind the end. */
  final char peek(int ahead) {
    return at + ahead < symbol.length() ? symbol.charAt(at + ahead) : 0;
  }

  /** Returns the next character and moves on; 0 behind the end. */
  final char next() {
    char c = peek();
    at++;
    return c;
  }

  final boolean skip(char c) {
    if (peek() != c) {
      return false;
    }
    at++;
    return true;
  }

  final void expect(char c) {
    require(skip(c));
  }

  static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }
}
