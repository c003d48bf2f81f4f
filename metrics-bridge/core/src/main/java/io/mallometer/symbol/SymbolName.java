package io.mallometer.symbol;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What people call the function behind a symbol: its qualified name without parameters, template
 * arguments, version, and the suffixes of clones, such as {@code .constprop.0} and {@code .cold}.
 * C++ is read by {@link ItaniumName}, Rust by {@link RustName}; in Rust's older scheme, which looks
 * like C++, the hash at the end is dropped. What cannot be read stays as it is.
 */
final class SymbolName {

  /** Compiled for the first symbol that has a dot, or what a hash begins with. */
  private static final class Patterns {

    static final Pattern CLONE =
        Pattern.compile(
            "\\.(?:constprop|isra|part|cold|lto_priv|llvm|localalias|clone|resolver|"
                + "avx2|avx512f|sse4_2|default|arch_\\w+)(?:\\.[.\\w]*)?$|\\.\\d+$");

    static final Pattern RUST_HASH = Pattern.compile("17h[0-9a-f]{16}E(?:\\.llvm\\.\\d+)?$");
    static final Pattern RUST_ESCAPE = Pattern.compile("\\$(?:u([0-9a-f]{1,6})|(\\w{1,2}))\\$");
  }

  private SymbolName() {}

  /** The name of a function by its symbol. */
  static String of(String symbol) {
    int version = symbol.indexOf('@');
    String unversioned = version > 0 ? symbol.substring(0, version) : symbol;
    Optional<String> path = RustName.of(unversioned);
    if (path.isPresent()) {
      return path.get();
    }
    Optional<String> name = ItaniumName.of(unversioned);
    if (name.isPresent()) {
      boolean hash = unversioned.contains("17h") && Patterns.RUST_HASH.matcher(unversioned).find();
      return hash ? ofRust(name.get()) : name.get();
    }
    return unversioned.startsWith("_Z") ? unversioned : withoutCloneSuffix(unversioned);
  }

  private static String withoutCloneSuffix(String symbol) {
    if (symbol.indexOf('.') < 0) {
      return symbol;
    }
    String rest = symbol;
    Matcher clone = Patterns.CLONE.matcher(rest);
    while (clone.find() && clone.start() > 0) {
      rest = rest.substring(0, clone.start());
      clone = Patterns.CLONE.matcher(rest);
    }
    return rest;
  }

  /** Drops the hash, which is the last component, and writes escaped characters as such. */
  private static String ofRust(String name) {
    int hash = name.lastIndexOf("::");
    String path = hash > 0 ? name.substring(0, hash) : name;
    return Patterns.RUST_ESCAPE
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
