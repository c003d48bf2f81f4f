package io.mallometer.internal.symbol;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The name of a library in the tag {@code library}: its SONAME, or else its file name without
 * random parts. So the name is the same in every run.
 *
 * <ul>
 *   <li>Random parts are UUIDs, hashes of 16 or more hexadecimal digits, numbers of 7 or more
 *       digits, and digits before {@code .tmp}. The digits of an architecture such as {@code
 *       x86_64} stay.
 *   <li>A version next to a random part is dropped too, because its end cannot be recognized:
 *       {@code libzstd-jni-1.5.6-31234567890.so} becomes {@code libzstd-jni.so}. Any other version
 *       stays, except that {@code .so.1.2.3} becomes {@code .so.1}.
 *   <li>If {@code lib} follows a random part, everything before it is dropped: {@code
 *       sqlite-3.46.0-<uuid>-libsqlitejdbc.so} becomes {@code libsqlitejdbc.so}.
 * </ul>
 */
final class LibraryName {

  private static final String DELETED = " (deleted)";
  private static final int MOST_CHARACTERS = 100;

  /** Stands for a dropped part of a name. No file name contains this character. */
  private static final String GONE = "\0";

  private static final String BOUNDARY = "\1";

  /**
   * Patterns in a class of their own, so that the JVM compiles them only when a name needs them.
   */
  private static final class Patterns {

    static final Pattern ENDING =
        Pattern.compile("(\\.so(?:\\.\\d{1,3})?)[.\\d]*$|\\.\\p{Alpha}\\w*$");

    static final Pattern RANDOM =
        Pattern.compile(
            "\\p{XDigit}{8}(?:-\\p{XDigit}{4}){3}-\\p{XDigit}{12}"
                + "|(?<!\\p{Alnum})(?=\\p{XDigit}*\\d)\\p{XDigit}{16,}(?!\\p{Alnum})|\\d{7,}");

    static final Pattern ARCHITECTURE =
        Pattern.compile(
            "(x86_64|x86-64|aarch_64|aarch64|arm64|amd64|x64|linux64|linux-64|ppcle_64|ppc64le"
                + "|s390_64|s390x|riscv64|loongarch64)(?=\\d{7})");

    static final Pattern BEFORE_LIB = Pattern.compile("^.*\0[-_.\\d\0]*(?=lib)");

    static final Pattern RANDOM_WITH_VERSION =
        Pattern.compile("(?:[-_.]+v?\\d+)*[-_.]*\0(?:[-_.\\d\0]*\0)?(?:[-_.]+\\d+)*[-_.]*");
  }

  private LibraryName() {}

  /**
   * Returns the name of a library.
   *
   * @param path the path of its file; empty if unknown
   */
  static String of(Optional<String> soname, String path) {
    String own = soname.isPresent() ? fileName(soname.get()) : "";
    return own.isEmpty() ? ofFile(fileName(path)) : own;
  }

  private static String fileName(String path) {
    StringBuilder name = new StringBuilder();
    int at = path.lastIndexOf('/') + 1;
    int left = MOST_CHARACTERS;
    while (at < path.length() && left > 0) {
      int character = path.codePointAt(at);
      if (!Character.isISOControl(character)) {
        name.appendCodePoint(character);
        left--;
      }
      at += Character.charCount(character);
    }
    return name.toString();
  }

  private static String ofFile(String file) {
    if (isOfLetters(file)) {
      return file;
    }
    String name =
        file.endsWith(DELETED) ? file.substring(0, file.length() - DELETED.length()) : file;
    Matcher matcher = Patterns.ENDING.matcher(name);
    boolean ends = matcher.find();
    String ending = ends ? ending(matcher) : "";
    String stem = ends ? name.substring(0, matcher.start()) : name;
    String stable = withoutRandomParts(stem, ending.equals(".tmp"));
    return stable.isEmpty() ? "[unnamed]" : stable + ending;
  }

  private static String ending(Matcher matcher) {
    String library = matcher.group(1);
    return library == null ? matcher.group() : library;
  }

  private static boolean isOfLetters(String file) {
    for (int i = 0; i < file.length(); i++) {
      if (!Character.isLetter(file.charAt(i))) {
        return false;
      }
    }
    return !file.isEmpty();
  }

  private static String withoutRandomParts(String stem, boolean temporary) {
    String marked = Patterns.ARCHITECTURE.matcher(stem).replaceAll("$1" + BOUNDARY);
    marked = Patterns.RANDOM.matcher(marked).replaceAll(GONE);
    if (temporary) {
      marked = marked.replaceFirst("\\d+$", GONE);
    }
    marked = Patterns.BEFORE_LIB.matcher(marked).replaceFirst("");
    return Patterns.RANDOM_WITH_VERSION
        .matcher(marked)
        .replaceAll(GONE)
        .replaceAll("^\0|\0$|\0(?=\1)|(?<=\1)\0", "")
        .replace(GONE, "-")
        .replace(BOUNDARY, "");
  }
}
