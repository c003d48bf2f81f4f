package io.mallometer.internal.symbol;

import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The readable name of a function: its qualified name without parameters, template arguments,
 * version, and suffixes of clones such as {@code .cold}. A symbol that cannot be read stays as it
 * is.
 */
final class SymbolName {

  /**
   * The suffixes that compilers give to clones of a function, without the dot. More words may
   * follow, each after a dot.
   */
  private static final Set<String> CLONES =
      Set.of(
          "constprop",
          "isra",
          "part",
          "cold",
          "lto_priv",
          "llvm",
          "localalias",
          "clone",
          "resolver",
          "avx2",
          "avx512f",
          "sse4_2",
          "default");

  private static final String CLONE_OF_ARCHITECTURE = "arch_";

  /**
   * Patterns for names in Rust's older scheme, in a class of their own, so that the JVM compiles
   * them only for programs with such names.
   */
  private static final class RustPatterns {

    static final Pattern HASH = Pattern.compile("17h[0-9a-f]{16}E(?:\\.llvm\\.\\d+)?$");
    static final Pattern ESCAPE = Pattern.compile("\\$(?:u([0-9a-f]{1,6})|(\\w{1,2}))\\$");
  }

  private SymbolName() {}

  static String of(String symbol) {
    int version = symbol.indexOf('@');
    String unversioned = version > 0 ? symbol.substring(0, version) : symbol;
    Optional<String> path = RustName.of(unversioned);
    if (path.isPresent()) {
      return path.get();
    }
    Optional<String> name = ItaniumName.of(unversioned);
    if (name.isPresent()) {
      boolean hash = unversioned.contains("17h") && RustPatterns.HASH.matcher(unversioned).find();
      return hash ? ofRust(name.get()) : name.get();
    }
    return unversioned.startsWith("_Z") ? unversioned : withoutCloneSuffix(unversioned);
  }

  private static String withoutCloneSuffix(String symbol) {
    String rest = symbol;
    for (int dot = cloneSuffix(rest); dot > 0; dot = cloneSuffix(rest)) {
      rest = rest.substring(0, dot);
    }
    return rest;
  }

  private static int cloneSuffix(String symbol) {
    for (int dot = symbol.indexOf('.'); dot >= 0; dot = symbol.indexOf('.', dot + 1)) {
      if (isCloneSuffix(symbol, dot)) {
        return dot;
      }
    }
    return -1;
  }

  private static boolean isCloneSuffix(String symbol, int dot) {
    int next = symbol.indexOf('.', dot + 1);
    String word = symbol.substring(dot + 1, next < 0 ? symbol.length() : next);
    return isClone(word) ? isOfWords(symbol, dot) : next < 0 && isNumber(word);
  }

  private static boolean isClone(String word) {
    boolean ofArchitecture =
        word.startsWith(CLONE_OF_ARCHITECTURE) && word.length() > CLONE_OF_ARCHITECTURE.length();
    return ofArchitecture || CLONES.contains(word);
  }

  private static boolean isOfWords(String symbol, int from) {
    for (int at = from; at < symbol.length(); at++) {
      char c = symbol.charAt(at);
      boolean word = c < 128 && Character.isLetterOrDigit(c) || c == '_';
      if (!word && c != '.') {
        return false;
      }
    }
    return true;
  }

  private static boolean isNumber(String word) {
    for (int at = 0; at < word.length(); at++) {
      if (word.charAt(at) < '0' || word.charAt(at) > '9') {
        return false;
      }
    }
    return !word.isEmpty();
  }

  private static String ofRust(String name) {
    int hash = name.lastIndexOf("::");
    String path = hash > 0 ? name.substring(0, hash) : name;
    return RustPatterns.ESCAPE
        .matcher(path)
        .replaceAll(escape -> Matcher.quoteReplacement(unescaped(escape.group(1), escape.group(2))))
        .replace("..", "::")
        .replace("::_<", "::<")
        .replaceFirst("^_<", "<");
  }

  private static String unescaped(String hexadecimal, String code) {
    if (hexadecimal != null) {
      int character = Integer.parseInt(hexadecimal, 16);
      return Character.isValidCodePoint(character) ? Character.toString(character) : "?";
    }
    return switch (code) {
      case "LT" -> "<";
      case "GT" -> ">";
      case "LP" -> "(";
      case "RP" -> ")";
      case "RF" -> "&";
      case "BP" -> "*";
      case "C" -> ",";
      case "SP" -> "@";
      default -> "$" + code + "$";
    };
  }
}
