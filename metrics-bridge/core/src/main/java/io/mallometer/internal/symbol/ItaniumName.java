package io.mallometer.internal.symbol;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reads the name of a function out of a symbol that was mangled by the Itanium C++ ABI, whose
 * chapter 5.1 is the grammar that the methods follow.
 *
 * <p>The result is the qualified name without parameters, return type, template arguments, ABI tags
 * and clone suffix: {@code std::vector<int>::push_back(int const&)} is {@code
 * std::vector::push_back}. A thunk has the name of the function that it leads to, a lambda is
 * {@code f::{lambda#1}}. Template arguments are read only to find their end and to count the
 * substitutions in them.
 *
 * <p>The symbol is read in one pass without backtracking. Depth and length are bounded.
 */
final class ItaniumName extends MangledName {

  /** The longest symbol that is read. The longest in libjvm and RocksDB has 623 characters. */
  private static final int MOST_CHARACTERS = 1 << 13;

  private static final int MOST_TEXT = 1 << 11;
  private static final int MOST_DEPTH = 200;

  /**
   * The first of the characters that stand for template parameters whose arguments are not known
   * yet.
   */
  private static final char PARAMETERS = '\ue000';

  private static final int MOST_PARAMETERS = 256;

  private static final Map<String, String> OPERATORS =
      pairs(
          "nw new na new[] dl delete da delete[] aw co_await ps + ng - ad & de * co ~ pl + "
              + "mi - ml * dv / rm % an & or | eo ^ aS = pL += mI -= mL *= dV /= rM %= aN &= "
              + "oR |= eO ^= ls << rs >> lS <<= rS >>= eq == ne != lt < gt > le <= ge >= ss <=> "
              + "nt ! aa && oo || pp ++ mm -- cm , pm ->* pt -> cl () ix [] qu ?");

  /** The builtin types by their codes. A tilde stands for a space. */
  private static final Map<String, String> BUILTIN_TYPES =
      pairs(
          "v void w wchar_t b bool c char a signed~char h unsigned~char s short t unsigned~short i"
              + " int j unsigned~int l long m unsigned~long x long~long y unsigned~long~long n"
              + " __int128 o unsigned~__int128 f float d double e long~double g __float128 z ... Da"
              + " auto Dc decltype(auto) Dn decltype(nullptr) Di char32_t Ds char16_t Du char8_t Dd"
              + " decimal64 De decimal128 Df decimal32 Dh half");

  /**
   * The names for {@code Sa}, {@code Ss} and other abbreviations: the short name, then the name of
   * the template.
   */
  private static final Map<Character, String[]> ABBREVIATIONS =
      Map.of(
          'a', new String[] {"allocator", "allocator"},
          'b', new String[] {"basic_string", "basic_string"},
          's', new String[] {"string", "basic_string"},
          'i', new String[] {"istream", "basic_istream"},
          'o', new String[] {"ostream", "basic_ostream"},
          'd', new String[] {"iostream", "basic_iostream"});

  /**
   * A name or type. {@code last} is its last component, which is also the name of its constructors.
   */
  private record Name(String text, String last) {

    Name(String text) {
      this(text, text);
    }

    Name in(String scope) {
      if (scope.isEmpty()) {
        return this;
      }
      require(scope.length() + text.length() <= MOST_TEXT);
      return new Name(scope + "::" + text, last);
    }

    Name followedBy(String suffix) {
      require(text.length() + suffix.length() <= MOST_TEXT);
      return new Name(text + suffix, last);
    }
  }

  private final List<Name> substitutions = new ArrayList<>();

  private ItaniumName(String symbol) {
    super(symbol);
  }

  static Optional<String> of(String symbol) {
    if (!symbol.startsWith("_Z") || symbol.length() > MOST_CHARACTERS) {
      return Optional.empty();
    }
    try {
      return Optional.of(withoutParameters(new ItaniumName(symbol).encoding(false)));
    } catch (Unreadable e) {
      return Optional.empty();
    }
  }

  private static Map<String, String> pairs(String words) {
    Map<String, String> pairs = new HashMap<>();
    String[] split = words.split(" ");
    for (int i = 0; i < split.length; i += 2) {
      pairs.put(split[i], split[i + 1]);
    }
    return Map.copyOf(pairs);
  }

  private static String withoutParameters(String text) {
    StringBuilder known = new StringBuilder(text);
    for (int i = 0; i < known.length(); i++) {
      if (isParameter(known.charAt(i))) {
        known.setCharAt(i, 'T');
      }
    }
    return known.toString();
  }

  private static boolean isParameter(char c) {
    return c >= PARAMETERS && c < PARAMETERS + MOST_PARAMETERS;
  }

  private String next(int length) {
    int start = Math.min(at, symbol.length());
    return symbol.substring(start, Math.min(start + length, symbol.length()));
  }

  private boolean startsWith(String text) {
    return symbol.startsWith(text, at);
  }

  private boolean skip(String text) {
    if (!startsWith(text)) {
      return false;
    }
    at += text.length();
    return true;
  }

  private static boolean isLower(char c) {
    return c >= 'a' && c <= 'z';
  }

  private static boolean isOneOf(char c, String characters) {
    return c != 0 && characters.indexOf(c) >= 0;
  }

  private int number() {
    require(isDigit(peek()));
    int value = 0;
    for (; isDigit(peek()); at++) {
      require(value <= 100_000_000);
      value = value * 10 + peek() - '0';
    }
    return value;
  }

  /** Reads a number that is written {@code _} for 0, {@code 0_} for 1, and so on. */
  private int compactNumber() {
    int value = peek() == '_' ? 0 : number() + 1;
    expect('_');
    return value;
  }

  private void signedNumber() {
    skip('n');
    number();
  }

  private void enter() {
    require(++depth <= MOST_DEPTH);
  }

  private void leave() {
    depth--;
  }

  /**
   * Reads a function or object. Its parameters are read only if it is within another name. At the
   * outermost level, they come last and are not needed.
   */
  private String encoding(boolean within) {
    enter();
    String text;
    if (peek() == 'T') {
      text = special(within);
    } else if (peek() == 'G') {
      text = guard(within);
    } else {
      text = name("").text();
      while (within && peek() != 'E' && peek() != 0) {
        type();
      }
    }
    leave();
    return text;
  }

  /**
   * Reads an entity that the compiler makes: a thunk, data such as a vtable, or a function for a
   * thread-local variable.
   */
  private String special(boolean within) {
    at++;
    char kind = next();
    return switch (kind) {
      case 'h', 'v' -> {
        callOffset(kind);
        yield encoding(within);
      }
      case 'c' -> {
        callOffset();
        callOffset();
        yield encoding(within);
      }
      case 'V' -> "vtable for " + type().text();
      case 'T' -> "VTT for " + type().text();
      case 'I' -> "typeinfo for " + type().text();
      case 'S' -> "typeinfo name for " + type().text();
      case 'C' -> {
        Name derived = type();
        number();
        expect('_');
        yield "construction vtable for " + type().text() + "-in-" + derived.text();
      }
      case 'H' -> "TLS init function for " + name("").text();
      case 'W' -> "TLS wrapper function for " + name("").text();
      default -> throw new Unreadable();
    };
  }

  private String guard(boolean within) {
    at++;
    if (skip('V')) {
      return "guard variable for " + name("").text();
    }
    if (skip('R')) {
      return "reference temporary for " + name("").text();
    }
    require(skip('A') || skip("Tt") || skip("Tn"));
    return encoding(within);
  }

  private void callOffset() {
    callOffset(next());
  }

  private void callOffset(char kind) {
    signedNumber();
    expect('_');
    require(kind == 'v' || kind == 'h');
    if (kind == 'v') {
      signedNumber();
      expect('_');
    }
  }

  private Name name(String scope) {
    enter();
    Name name;
    if (peek() == 'N') {
      name = nested().in(scope);
    } else if (peek() == 'Z') {
      name = local().in(scope);
    } else if (peek() == 'S' && peek(1) != 't') {
      name = substitution(false);
      skipTemplateArguments();
    } else {
      String inner = skip("St") ? "std" : "";
      name = unqualified("").in(inner).in(scope);
      if (peek() == 'I') {
        substitutions.add(name);
        name = resolved(name, templateArguments());
      }
    }
    leave();
    return name;
  }

  private Name nested() {
    at++;
    qualifiers();
    if (!skip('R') && !skip('O')) {
      skip('H');
    }
    Name prefix = new Name("");
    while (!skip('E')) {
      boolean repeated = peek() == 'S';
      prefix = component(prefix);
      if (!repeated && peek() != 'E') {
        substitutions.add(prefix);
      }
    }
    require(!prefix.text().isEmpty());
    return prefix;
  }

  private Name component(Name prefix) {
    if (skip("St")) {
      return new Name("std").in(prefix.text());
    }
    if (peek() == 'S') {
      return substitution(true);
    }
    if (peek() == 'T') {
      return templateParameter();
    }
    if (startsWith("Dt") || startsWith("DT")) {
      return decltype();
    }
    if (prefix.text().isEmpty()) {
      return unqualified("");
    }
    if (peek() == 'I') {
      return resolved(prefix, templateArguments());
    }
    // Skips the mark of an initializer's scope, which comes before a lambda in that initializer.
    skip('M');
    return unqualified(prefix.last()).in(prefix.text());
  }

  private Name local() {
    at++;
    String function = encoding(true);
    expect('E');
    if (skip('s')) {
      discriminator();
      return new Name("string literal").in(function);
    }
    if (skip('d')) {
      function += "::{default arg#" + (compactNumber() + 1) + "}";
    }
    Name name = name(function);
    discriminator();
    return name;
  }

  /** Skips the number that distinguishes entities of the same name in one function. */
  private void discriminator() {
    if (skip("__")) {
      number();
      expect('_');
    } else if (peek() == '_' && isDigit(peek(1))) {
      at += 2;
    }
  }

  /**
   * Reads one component of a name.
   *
   * @param scope the name of the enclosing class, which is also the name of its constructors
   */
  private Name unqualified(String scope) {
    // Skips the mark of a friend function that is defined in a class.
    skip('F');
    char c = peek();
    Name name;
    if (isDigit(c)) {
      name = sourceName();
    } else if (c == 'L') {
      at++;
      name = sourceName();
      discriminator();
    } else if (c == 'U') {
      name = unnamed();
    } else if (c == 'C' || c == 'D') {
      name = constructorOrDestructor(scope);
    } else if (isLower(c)) {
      name = operator();
    } else {
      throw new Unreadable();
    }
    abiTags();
    return name;
  }

  private Name sourceName() {
    int length = number();
    require(length > 0 && length <= symbol.length() - at);
    String text = symbol.substring(at, at + length);
    at += length;
    boolean anonymous = text.startsWith("_GLOBAL_") && text.startsWith("N", 9);
    return new Name(anonymous ? "(anonymous namespace)" : text);
  }

  private void abiTags() {
    while (skip('B')) {
      sourceName();
    }
  }

  private Name unnamed() {
    if (skip("Ut")) {
      return new Name("{unnamed type#" + (compactNumber() + 1) + "}");
    }
    require(skip("Ul"));
    while (!skip('E')) {
      if (isTemplateParameterDeclaration()) {
        templateParameterDeclaration();
      } else {
        type();
      }
    }
    return new Name("{lambda#" + (compactNumber() + 1) + "}");
  }

  private Name constructorOrDestructor(String scope) {
    if (skip("DC")) {
      StringBuilder bound = new StringBuilder("[");
      while (!skip('E')) {
        bound.append(bound.length() == 1 ? "" : ", ").append(sourceName().text());
      }
      return new Name(bound.append(']').toString());
    }
    boolean destructor = peek() == 'D';
    at++;
    boolean inherited = !destructor && skip('I');
    require(!scope.isEmpty() && isDigit(peek()));
    at++;
    if (inherited) {
      type();
    }
    return new Name(destructor ? "~" + scope : scope);
  }

  private Name operator() {
    if (skip("cv")) {
      return new Name("operator " + type(false).text());
    }
    if (skip("li")) {
      return new Name("operator\"\" " + sourceName().text());
    }
    if (peek() == 'v' && isDigit(peek(1))) {
      at += 2;
      return new Name("operator " + sourceName().text());
    }
    String text = OPERATORS.get(next(2));
    if (text == null) {
      throw new Unreadable();
    }
    at += 2;
    return new Name("operator" + (isLower(text.charAt(0)) ? " " : "") + text);
  }

  /**
   * Reads a reference to an entity that occurred before, or an abbreviation such as {@code Ss}.
   *
   * @param scope whether a member of the entity follows. If so, {@code Ss} is {@code basic_string}
   *     instead of {@code string}, because a constructor is named after the template.
   */
  private Name substitution(boolean scope) {
    expect('S');
    char c = peek();
    if (isLower(c)) {
      return abbreviation(c, scope);
    }
    int index = 0;
    if (!skip('_')) {
      for (; peek() != '_'; at++) {
        index = index * 36 + Character.digit(peek(), 36);
        if (isLower(peek()) || Character.digit(peek(), 36) < 0 || index > MOST_CHARACTERS) {
          throw new Unreadable();
        }
      }
      at++;
      index++;
    }
    require(index < substitutions.size());
    return substitutions.get(index);
  }

  private Name abbreviation(char c, boolean scope) {
    String[] names = ABBREVIATIONS.get(c);
    if (names == null) {
      throw new Unreadable();
    }
    at++;
    boolean tagged = peek() == 'B';
    abiTags();
    Name name = new Name(names[scope ? 1 : 0], names[1]).in("std");
    if (tagged) {
      substitutions.add(name);
    }
    return name;
  }

  /** Returns a name with its template parameters, if it has any, replaced by arguments. */
  private static Name resolved(Name name, List<String> arguments) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < name.text().length(); i++) {
      char c = name.text().charAt(i);
      int parameter = c - PARAMETERS;
      if (isParameter(c) && parameter < arguments.size()) {
        text.append(arguments.get(parameter));
      } else {
        text.append(c);
      }
      require(text.length() <= MOST_TEXT);
    }
    return text.length() == name.text().length() ? name : new Name(text.toString(), name.last());
  }

  /**
   * Returns a text for each argument: the name of a type, or an empty text if the argument is no
   * type.
   */
  private List<String> templateArguments() {
    enter();
    expect('I');
    List<String> arguments = new ArrayList<>();
    while (!skip('E')) {
      arguments.add(templateArgument());
    }
    leave();
    return arguments;
  }

  private void skipTemplateArguments() {
    if (peek() == 'I') {
      templateArguments();
    }
  }

  private String templateArgument() {
    while (isTemplateParameterDeclaration()) {
      templateParameterDeclaration();
    }
    switch (peek()) {
      case 'X' -> {
        at++;
        expression();
        expect('E');
      }
      case 'L' -> literal();
      case 'I', 'J' -> {
        enter();
        at++;
        while (!skip('E')) {
          templateArgument();
        }
        leave();
      }
      case 'Q' -> {
        at++;
        expression();
      }
      default -> {
        return type().text();
      }
    }
    return "";
  }

  private boolean isTemplateParameterDeclaration() {
    return peek() == 'T' && isOneOf(peek(1), "yntpk");
  }

  private void templateParameterDeclaration() {
    enter();
    char kind = peek(1);
    at += 2;
    if (kind == 'n') {
      type();
    } else if (kind == 'k') {
      name("");
    } else if (kind == 'p') {
      templateParameterDeclaration();
    } else if (kind == 't') {
      while (!skip('E')) {
        templateParameterDeclaration();
      }
    } else {
      require(kind == 'y');
    }
    leave();
  }

  private Name templateParameter() {
    expect('T');
    if (skip('L')) {
      number();
      expect('_');
    }
    int number = compactNumber();
    return new Name(number < MOST_PARAMETERS ? String.valueOf((char) (PARAMETERS + number)) : "T");
  }

  // Types. Their text matters only in conversion operators.

  private Name type() {
    return type(true);
  }

  /**
   * Reads a type, which becomes a substitution unless it is built in.
   *
   * @param takesArguments whether template arguments that follow a template parameter belong to
   *     that parameter; false for the type of a conversion operator, because they then belong to
   *     the operator
   */
  private Name type(boolean takesArguments) {
    enter();
    String code = next(peek() == 'D' ? 2 : 1);
    String builtin = BUILTIN_TYPES.get(code);
    Name type;
    if (builtin != null) {
      at += code.length();
      type = new Name(builtin.replace('~', ' '));
    } else if (startsWith("DF") || startsWith("DB") || startsWith("DU")) {
      type = sizedNumber();
    } else if (peek() == 'S' && peek(1) != 't') {
      type = repeatedType();
    } else {
      type = newType(takesArguments);
      substitutions.add(type);
      if (peek() == 'I' && takesArguments && type.text().length() == 1) {
        templateArguments();
        substitutions.add(type);
      }
    }
    leave();
    return type;
  }

  /** Reads a reference to an earlier type, or to an earlier template with arguments after it. */
  private Name repeatedType() {
    Name type = substitution(false);
    if (peek() == 'I') {
      templateArguments();
      substitutions.add(type);
    }
    return type;
  }

  private Name newType(boolean takesArguments) {
    char c = peek();
    if (isDigit(c) || startsWith("Ul") || startsWith("Ut")) {
      return name("");
    }
    if (isOneOf(c, "PROCGMUu")) {
      at++;
    }
    return switch (c) {
      case 'N', 'Z', 'S' -> name("");
      case 'r', 'V', 'K' -> {
        String qualifiers = qualifiers();
        yield isFunctionType() ? functionType() : type(takesArguments).followedBy(qualifiers);
      }
      case 'P' -> type(takesArguments).followedBy("*");
      case 'R' -> type(takesArguments).followedBy("&");
      case 'O' -> type(takesArguments).followedBy("&&");
      case 'C', 'G' -> type(takesArguments);
      case 'F' -> functionType();
      case 'A' -> arrayType();
      case 'M' -> {
        Name owner = type();
        yield type().followedBy(" " + owner.text() + "::*");
      }
      case 'T' -> skip("Ts") || skip("Tu") || skip("Te") ? name("") : templateParameter();
      case 'D' -> newerType();
      case 'U' -> {
        sourceName();
        skipTemplateArguments();
        yield type(takesArguments);
      }
      case 'u' -> {
        Name vendors = sourceName();
        skipTemplateArguments();
        yield vendors;
      }
      default -> throw new Unreadable();
    };
  }

  private Name newerType() {
    if (isFunctionType()) {
      return functionType();
    }
    if (skip("Dp")) {
      return type();
    }
    if (skip("Dv")) {
      if (isDigit(peek())) {
        number();
      } else if (peek() != '_') {
        expression();
      }
      expect('_');
      return type().followedBy(" __vector");
    }
    if (skip("Dk") || skip("DK")) {
      name("");
      return new Name("auto");
    }
    return decltype();
  }

  private Name decltype() {
    require(skip("Dt") || skip("DT"));
    expression();
    expect('E');
    return new Name("decltype");
  }

  private Name sizedNumber() {
    boolean real = peek(1) == 'F';
    at += 2;
    if (isDigit(peek())) {
      number();
    } else {
      expression();
    }
    require(skip('_') || real && (skip('x') || skip('b')));
    return new Name(real ? "_Float" : "_BitInt");
  }

  private boolean isFunctionType() {
    return peek() == 'F' || peek() == 'D' && isOneOf(peek(1), "oOwx");
  }

  private Name functionType() {
    skip("Dx");
    if (skip("DO")) {
      expression();
      expect('E');
    } else if (skip("Dw")) {
      while (!skip('E')) {
        type();
      }
    } else {
      skip("Do");
    }
    skip("Dx");
    expect('F');
    skip('Y');
    while (!skip('E')) {
      if (!skip("RE") && !skip("OE")) {
        type();
      } else {
        break;
      }
    }
    return new Name("function");
  }

  private Name arrayType() {
    at++;
    if (isDigit(peek())) {
      number();
    } else if (peek() != '_') {
      expression();
    }
    expect('_');
    return type().followedBy(" []");
  }

  /** Reads {@code const} and the like, and returns them as they are written after a type. */
  private String qualifiers() {
    String text = "";
    for (; isOneOf(peek(), "rVK"); at++) {
      require(text.length() <= MOST_TEXT);
      text =
          switch (peek()) {
                case 'r' -> " restrict";
                case 'V' -> " volatile";
                default -> " const";
              }
              + text;
    }
    return text;
  }

  // Skips an expression. Only its length, and the types in it, matter for the rest of the symbol.

  private void expression() {
    enter();
    skip("gs");
    char c = peek();
    if (c == 'L') {
      literal();
    } else if (c == 'T') {
      templateParameter();
    } else if (startsWith("fp") || startsWith("fL") && isDigit(peek(2))) {
      functionParameter();
    } else if (isDigit(c) || startsWith("on") || startsWith("dn") || startsWith("sr")) {
      unresolvedName();
    } else {
      operation(next(2));
    }
    leave();
  }

  private void operation(String code) {
    at += 2;
    switch (code) {
      case "cl", "cp", "il", "mc" -> expressionsToEnd();
      case "tl" -> {
        type();
        expressionsToEnd();
      }
      case "cv" -> {
        type();
        if (skip('_')) {
          expressionsToEnd();
        } else {
          expression();
        }
      }
      case "nw", "na" -> newExpression();
      case "dc", "sc", "cc", "rc" -> {
        type();
        expression();
      }
      case "ti", "st", "at" -> type();
      case "dt", "pt" -> {
        expression();
        unresolvedName();
      }
      case "sZ", "te", "sz", "az", "nx", "sp", "tw", "dl", "da" -> expression();
      case "ps", "ng", "ad", "de", "co", "nt", "aw" -> expression();
      case "sP" -> {
        while (!skip('E')) {
          templateArgument();
        }
      }
      case "tr" -> {}
      case "fl", "fr" -> {
        at += 2;
        expression();
      }
      case "fL", "fR" -> {
        at += 2;
        expressions(2);
      }
      case "di" -> {
        sourceName();
        expression();
      }
      case "dx", "ds" -> expressions(2);
      case "dX", "qu" -> expressions(3);
      case "pp", "mm" -> {
        skip('_');
        expression();
      }
      default -> {
        require(OPERATORS.containsKey(code));
        expressions(2);
      }
    }
  }

  private void expressions(int count) {
    for (int i = 0; i < count; i++) {
      expression();
    }
  }

  private void expressionsToEnd() {
    while (!skip('E')) {
      expression();
    }
  }

  private void newExpression() {
    while (!skip('_')) {
      expression();
    }
    type();
    if (skip("pi")) {
      expressionsToEnd();
    } else if (!skip('E')) {
      expression();
    }
  }

  private void functionParameter() {
    boolean outer = startsWith("fL");
    at += 2;
    if (outer) {
      number();
      expect('p');
    }
    if (!skip('T')) {
      qualifiers();
      compactNumber();
    }
  }

  private void unresolvedName() {
    enter();
    if (skip("sr")) {
      if (skip('N')) {
        type();
        while (!skip('E')) {
          simpleName();
        }
      } else if (isDigit(peek())) {
        // Newer compilers write several nested names and then 'E'; older ones write one type.
        type();
        while (isDigit(peek()) && !skip('E')) {
          simpleName();
        }
        if (skip('E') && !isDigit(peek()) && !isLower(peek())) {
          at--;
          leave();
          return;
        }
      } else {
        type();
      }
    }
    if (skip("dn")) {
      if (isDigit(peek())) {
        simpleName();
      } else {
        type();
      }
    } else {
      simpleName();
    }
    leave();
  }

  private void simpleName() {
    boolean operator = skip("on");
    if (operator || isLower(peek())) {
      operator();
    } else {
      sourceName();
    }
    abiTags();
    skipTemplateArguments();
  }

  private void literal() {
    expect('L');
    if (skip("_Z") || skip('Z')) {
      encoding(true);
      expect('E');
      return;
    }
    type();
    while (isDigit(peek()) || isLower(peek()) || peek() == '_') {
      at++;
    }
    expect('E');
  }
}
