package io.mallometer.internal.symbol;

/** A mangled symbol that is read character by character. */
abstract class MangledName {

  static final class Unreadable extends RuntimeException {

    private static final long serialVersionUID = 1;

    Unreadable() {
      super(null, null, false, false);
    }
  }

  final String symbol;

  /**
   * The index of the next character. Reading begins after the two characters that mark the scheme.
   */
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

  final char peek(int ahead) {
    return at + ahead < symbol.length() ? symbol.charAt(at + ahead) : 0;
  }

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
