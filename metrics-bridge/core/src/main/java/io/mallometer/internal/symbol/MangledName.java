package io.mallometer.internal.symbol;

/** A mangled symbol that is read from its beginning to its end, character by character. */
abstract class MangledName {

  /** Thrown if the symbol does not follow the grammar that the subclass reads. */
  static final class Unreadable extends RuntimeException {

    private static final long serialVersionUID = 1;

    Unreadable() {
      super(null, null, false, false);
    }
  }

  final String symbol;

  /**
   * The index of the next character. At first it is the index after the two characters with which
   * all symbols begin.
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

  /** Returns the character this many places ahead; 0 after the end. */
  final char peek(int ahead) {
    return at + ahead < symbol.length() ? symbol.charAt(at + ahead) : 0;
  }

  /** Returns the next character and moves past it; 0 after the end. */
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
