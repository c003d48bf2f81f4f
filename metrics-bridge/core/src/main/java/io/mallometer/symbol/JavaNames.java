package io.mallometer.symbol;

import java.util.List;
import java.util.regex.Pattern;

/**
 * Names of Java classes and methods without what a JVM or a framework numbered at runtime, so that
 * they are the same in every run:
 *
 * <table>
 *   <caption>What becomes of what</caption>
 *   <tr><td>{@code Foo$$Lambda$123/0x7f00}, {@code Foo$$Lambda/0x7f00}, {@code Foo$$Lambda.0x7f00}
 *       <td>{@code Foo$$Lambda}
 *   <tr><td>{@code Foo/0x7f00} (any hidden class) <td>{@code Foo}
 *   <tr><td>{@code Foo$$FastClassBySpringCGLIB$$1a2b}, {@code Foo$$SpringCGLIB$$0}
 *       <td>{@code Foo$$FastClassBySpringCGLIB}, {@code Foo$$SpringCGLIB}
 *   <tr><td>{@code Foo$ByteBuddy$x1Y2}, {@code Foo$HibernateProxy$x1Y2}
 *       <td>{@code Foo$ByteBuddy}, {@code Foo$HibernateProxy}
 *   <tr><td>{@code jdk.proxy2.$Proxy12} <td>{@code jdk.proxy.$Proxy}
 *   <tr><td>{@code jdk.internal.reflect.GeneratedMethodAccessor12}
 *       <td>{@code jdk.internal.reflect.GeneratedMethodAccessor}
 *   <tr><td>{@code lambda$render$0}, {@code lambda$render$1a2b$1} <td>{@code lambda$render}
 * </table>
 *
 * <p>Numbers that the compiler gave, as in {@code Foo$1}, stay. Applying it twice changes nothing.
 */
public final class JavaNames {

  private static final Pattern HIDDEN = Pattern.compile("[/.+]0x\\p{XDigit}+.*$");
  private static final Pattern LAMBDA = Pattern.compile("\\$\\$Lambda\\b.*$");

  private static final Pattern CGLIB =
      Pattern.compile("(\\$\\$\\w*?CGLIB(?:\\$\\$FastClass)?)\\$\\$\\p{XDigit}+(?=\\$|$)");

  private static final Pattern SUBCLASS =
      Pattern.compile("(\\$(?:ByteBuddy|HibernateProxy|MockitoMock))\\$\\w+");

  private static final Pattern PROXY = Pattern.compile("(^|\\.|/)\\$Proxy\\d+");
  private static final Pattern PROXY_PACKAGE = Pattern.compile("\\bproxy\\d+(?=\\.\\$Proxy)");

  private static final Pattern ACCESSOR =
      Pattern.compile("(Generated(?:Method|Constructor|SerializationConstructor)Accessor)\\d+");

  private static final Pattern LAMBDA_NUMBER =
      Pattern.compile("(?:\\$\\p{XDigit}{6,8})?(?:\\$\\d+)+$");

  /** Most names have none of what the patterns look for. */
  private static final List<String> MARKS =
      List.of(
          "$$Lambda",
          "CGLIB",
          "$ByteBuddy",
          "$HibernateProxy",
          "$MockitoMock",
          "$Proxy",
          "Accessor");

  private JavaNames() {}

  /** The stable name of a class. */
  public static String ofClass(String name) {
    String stable = name.contains("0x") ? HIDDEN.matcher(name).replaceFirst("") : name;
    if (!hasMark(stable)) {
      return stable;
    }
    stable = LAMBDA.matcher(stable).replaceFirst("\\$\\$Lambda");
    stable = CGLIB.matcher(stable).replaceAll("$1");
    stable = SUBCLASS.matcher(stable).replaceAll("$1");
    stable = PROXY.matcher(stable).replaceAll("$1\\$Proxy");
    stable = PROXY_PACKAGE.matcher(stable).replaceAll("proxy");
    return ACCESSOR.matcher(stable).replaceAll("$1");
  }

  private static boolean hasMark(String name) {
    for (String mark : MARKS) {
      if (name.contains(mark)) {
        return true;
      }
    }
    return false;
  }

  /** The stable name of a method. */
  public static String ofMethod(String name) {
    return name.startsWith("lambda$") ? LAMBDA_NUMBER.matcher(name).replaceFirst("") : name;
  }
}
