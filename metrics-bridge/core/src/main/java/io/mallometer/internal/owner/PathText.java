package io.mallometer.internal.owner;

import io.mallometer.internal.library.HeapGraph.HeapObject;
import io.mallometer.internal.owner.RetentionPathFinder.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Formats reference paths for people, such as {@code Deflater.zsRef <- ArrayList <- static
 * ReportCache.open}. Leaves out the packages of classes and the inner objects of containers.
 */
final class PathText {

  private static final String ARROW = " <- ";
  private static final String ARRAY = "[]";

  /**
   * Matches containers and their inner objects, such as {@code HashMap} and {@code HashMap$Node[]}.
   * A path shows both as {@code HashMap}.
   */
  private static final Pattern CONTAINER =
      Pattern.compile("java\\.util\\.(?:concurrent\\.)?([A-Z]\\w*)(?:[$.\\[].*)?");

  private static final Pattern LAMBDA = Pattern.compile("(\\$\\$Lambda).*");

  private PathText() {}

  /**
   * Returns a class and its field, or only the class if {@code field} is missing, as for an array.
   */
  static String field(String className, @Nullable String field) {
    String name = simple(className);
    return field == null || field.isEmpty() ? name : name + "." + field;
  }

  static String of(List<Step> steps) {
    List<String> parts = new ArrayList<>();
    for (Step step : steps) {
      add(parts, part(step));
    }
    return String.join(ARROW, parts);
  }

  private static void add(List<String> parts, String part) {
    int last = parts.size() - 1;
    boolean behindArray = last >= 0 && parts.get(last).equals("Object" + ARRAY);
    if (behindArray && Character.isUpperCase(part.charAt(0)) && part.indexOf('.') < 0) {
      parts.set(last, part);
    } else if (last < 0 || !parts.get(last).equals(part)) {
      parts.add(part);
    }
    int now = parts.size() - 1;
    if (now > 0 && parts.get(now).equals(parts.get(now - 1))) {
      parts.remove(now);
    }
  }

  private static String part(Step step) {
    @Nullable String name = step.link().name();
    @Nullable HeapObject from = step.referrer().orElse(null);
    return switch (step.link().reference()) {
      case STATIC -> "static " + (from == null ? "?" : field(from.className(), name));
      case JNI_GLOBAL -> "JNI global reference";
      case MONITOR -> "a locked monitor";
      case LOCAL -> name == null ? "local variable" : "local variable of " + method(name);
      case JNI_LOCAL -> "JNI local reference" + (name == null ? "" : " of " + method(name));
      case THREAD -> "live thread";
      case ELEMENT -> from == null ? ARRAY : folded(from.className(), null);
      case FIELD -> from == null ? "?" : folded(from.className(), name);
      default -> from == null ? "the JVM" : simple(from.className());
    };
  }

  private static String folded(String className, @Nullable String field) {
    Matcher container = CONTAINER.matcher(className);
    if (container.matches()) {
      return container.group(1);
    }
    boolean local =
        className.startsWith("java.lang.ThreadLocal")
            || (className.equals("java.lang.Thread") && "threadLocals".equals(field));
    return local ? "ThreadLocal" : field(className, field);
  }

  /**
   * Returns a class name without its package. Removes the part of a lambda's name that differs
   * between runs.
   */
  private static String simple(String className) {
    String whole = LAMBDA.matcher(className).replaceFirst("$1");
    int dimensions = whole.indexOf('[');
    String element = dimensions < 0 ? whole : whole.substring(0, dimensions);
    return whole.substring(element.lastIndexOf('.') + 1);
  }

  private static String method(String name) {
    int dot = name.lastIndexOf('.');
    return simple(name.substring(0, Math.max(0, dot))) + name.substring(Math.max(0, dot));
  }
}
