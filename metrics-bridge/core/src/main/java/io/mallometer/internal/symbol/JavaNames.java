package io.mallometer.internal.symbol;

import java.util.List;
import java.util.regex.Pattern;

/**
 * Names of Java classes and methods without the numbers that a JVM or a framework gave at runtime,
 * so that they are the same in every run:
 *
 * <table>
 *   <caption>Examples</caption>
 *   <tr><td>{@code Foo$$Lambda$123/0x7f00}, {@code Foo$$Lambda/0x7f00}, {@code Foo$$Lambda.0x7f00}
 * <td>{@code Foo$$Lambda}
 *   <tr><td>{@code Foo/0x7f00} (any hidden class) <td>{@code Foo}
 *   <tr><td>{@code Foo$$FastClassBySpringCGLIB$$1a2b}, {@code Foo$$SpringCGLIB$$0}
 * <td>{@code Foo$$FastClassBySpringCGLIB}, {@code Foo$$SpringCGLIB}
 *   <tr><td>{@code Foo$ByteBuddy$x1Y2}, {@code Foo$HibernateProxy$x1Y2}
 * <td>{@code Foo$ByteBuddy}, {@code Foo$HibernateProxy}
 *   <tr><td>{@code jdk.proxy2.$Proxy12} <td>{@code jdk.proxy.$Proxy}
 *   <tr><td>{@code jdk.internal.reflect.GeneratedMethodAccessor12}
 * <td>{@code jdk.internal.reflect.GeneratedMethodAccessor}
 *   <tr><td>{@code lambda$render$0}, {@code lambda$render$1a2b$1} <td>{@code lambda$render}
 * </table>
 *
 * <p>Numbers that the compiler gave, as in {@code Foo$1}, stay. A stable name is not changed.
 */
public final class JavaNames {

  private static final String LAMBDA_CLASS = "$$Lambda";
  private static final String LAMBDA_METHOD = "lambda$";

  private static final int FEWEST_HASH_DIGITS = 6;
  private static final int MOST_HASH_DIGITS = 8;

  /** Patterns, compiled when the first class name contains one of {@link #MARKS}. */
  private static final class Patterns {

    static final Pattern CGLIB =
        Pattern.compile("(\\$\\$\\w*?CGLIB(?:\\$\\$FastClass)?)\\$\\$\\p{XDigit}+(?=\\$|$)");

    static final Pattern SUBCLASS =
        Pattern.compile("(\\$(?:ByteBuddy|HibernateProxy|MockitoMock))\\$\\w+");

    static final Pattern PROXY = Pattern.compile("(^|\\.|/)\\$Proxy\\d+");
    static final Pattern PROXY_PACKAGE = Pattern.compile("\\bproxy\\d+(?=\\.\\$Proxy)");

    static final Pattern ACCESSOR =
        Pattern.compile("(Generated(?:Method|Constructor|SerializationConstructor)Accessor)\\d+");
  }

  /**
   * A name that contains none of these texts cannot match a pattern. Most names contain none of
   * them.
   */
  private static final List<String> MARKS =
      List.of(
          "CGLIB",
          "$ByteBuddy",
          "$HibernateProxy",
          "$MockitoMock",
          "$Proxy",
          "GeneratedMethodAccessor",
          "GeneratedConstructorAccessor",
          "GeneratedSerializationConstructorAccessor");

  private JavaNames() {}

  public static String ofClass(String name) {
    String stable = withoutLambdaNumber(withoutAddress(name));
    return hasMark(stable) ? withoutNumbers(stable) : stable;
  }

  /** Returns a name without {@code /0x7f00}, which follows the name of a hidden class. */
  private static String withoutAddress(String name) {
    for (int at = name.indexOf("0x", 1); at > 0; at = name.indexOf("0x", at + 1)) {
      boolean separate = "/.+".indexOf(name.charAt(at - 1)) >= 0;
      if (separate && at + 2 < name.length() && isDigit(name.charAt(at + 2), 16)) {
        return name.substring(0, at - 1);
      }
    }
    return name;
  }

  private static String withoutLambdaNumber(String name) {
    for (int at = name.indexOf(LAMBDA_CLASS); at >= 0; at = name.indexOf(LAMBDA_CLASS, at + 1)) {
      int end = at + LAMBDA_CLASS.length();
      if (end == name.length() || !isWord(name.charAt(end))) {
        return name.substring(0, end);
      }
    }
    return name;
  }

  private static String withoutNumbers(String name) {
    String stable = Patterns.CGLIB.matcher(name).replaceAll("$1");
    stable = Patterns.SUBCLASS.matcher(stable).replaceAll("$1");
    stable = Patterns.PROXY.matcher(stable).replaceAll("$1\\$Proxy");
    stable = Patterns.PROXY_PACKAGE.matcher(stable).replaceAll("proxy");
    return Patterns.ACCESSOR.matcher(stable).replaceAll("$1");
  }

  /** Returns whether a framework or the JVM may have generated a class at runtime. */
  static boolean hasMark(String name) {
    for (String mark : MARKS) {
      if (name.contains(mark)) {
        return true;
      }
    }
    return false;
  }

  public static String ofMethod(String name) {
    int numbers = name.startsWith(LAMBDA_METHOD) ? startOfNumbers(name) : name.length();
    return numbers == name.length() ? name : name.substring(0, startOfHash(name, numbers));
  }

  private static int startOfNumbers(String name) {
    int end = name.length();
    int start = startOfNumber(name, end, 10);
    while (start < end) {
      end = start;
      start = startOfNumber(name, end, 10);
    }
    return end;
  }

  /**
   * Returns the index of the dollar sign if a hash such as {@code $1a2b3c4d} ends at {@code end};
   * otherwise {@code end}.
   */
  private static int startOfHash(String name, int end) {
    int start = startOfNumber(name, end, 16);
    int digits = end - start - 1;
    return digits >= FEWEST_HASH_DIGITS && digits <= MOST_HASH_DIGITS ? start : end;
  }

  /**
   * Returns the index of the dollar sign if {@code $} and digits end at {@code end}; otherwise
   * {@code end}.
   */
  private static int startOfNumber(String name, int end, int radix) {
    int at = end - 1;
    while (at > 0 && isDigit(name.charAt(at), radix)) {
      at--;
    }
    return at >= 0 && at < end - 1 && name.charAt(at) == '$' ? at : end;
  }

  private static boolean isDigit(char c, int radix) {
    return c < 128 && Character.digit(c, radix) >= 0;
  }

  private static boolean isWord(char c) {
    return c == '_' || Character.isLetterOrDigit(c);
  }
}
