package io.mallometer.model;

import java.util.List;
import java.util.Set;

/**
 * A function on a call stack.
 *
 * @param kind the kind of code. In a {@link Kind#COMPILED} frame, all other components are those of
 *     the compiled Java method
 * @param owner the Java class, such as {@code java.util.zip.Deflater}, or the native library, such
 *     as {@code libzip.so}; empty if the address belongs to no library
 * @param name the Java method, or the demangled native symbol without parameters; empty if unknown
 * @param source the Java source file's name; empty if unknown, and in native code
 * @param line the Java line; 0 if unknown, and in native code
 * @param offset in native code, the distance in bytes from the symbol. Without a symbol, the
 *     distance from the library's load address; without a library, the address itself. 0 in Java
 */
public record StackFrame(
    Kind kind, String owner, String name, String source, int line, long offset) {

  /**
   * Beginning of the name of a call site in a compiler thread. The name of the compiled method
   * follows.
   */
  public static final String COMPILATION = "compilation of ";

  private static final Set<String> OWNERS_WITH_CLEANER =
      Set.of("java.util.zip.Inflater", "java.util.zip.Deflater", "java.nio.DirectByteBuffer");

  /** The kind of code of a frame. */
  public enum Kind {
    /** Machine code of a library or of the executable. */
    NATIVE,
    /** A Java method, interpreted or compiled. */
    JAVA,
    /** The Java method that a compiler thread compiles. It is innermost in that thread's stack. */
    COMPILED
  }

  /** Returns a frame of native code. */
  public static StackFrame ofLibrary(String library, String symbol, long offset) {
    return new StackFrame(Kind.NATIVE, library, symbol, "", 0, offset);
  }

  /** Returns a frame of a Java method. */
  public static StackFrame ofJava(String className, String method, String source, int line) {
    return new StackFrame(Kind.JAVA, className, method, source, line, 0);
  }

  /** Returns the source file and line of a Java function in a stack; empty if unknown. */
  public static String place(List<StackFrame> frames, String function) {
    for (StackFrame frame : frames) {
      if (frame.kind() == Kind.JAVA
          && frame.function().equals(function)
          && !frame.source().isEmpty()) {
        return frame.source() + (frame.line() > 0 ? ":" + frame.line() : "");
      }
    }
    return "";
  }

  /** Returns a frame for a compiler thread that compiles the method of this Java frame. */
  public StackFrame asCompiled() {
    return new StackFrame(Kind.COMPILED, owner, name, source, 0, 0);
  }

  /**
   * Returns whether this frame belongs to the JDK's implementation of native calls or method
   * handles. Such frames differ between JDK versions, and between interpreted and compiled code.
   * Therefore they are not used in the names of call sites.
   */
  public boolean isOfCall() {
    return kind == Kind.JAVA
        && (owner.startsWith("java.lang.invoke.") || owner.startsWith("jdk.internal.foreign."));
  }

  /**
   * Returns whether a stack allocates for an inflater, a deflater or a direct buffer. If the
   * program does not close such an object, a cleaner frees its memory after a garbage collection.
   */
  public static boolean isForCleaner(List<StackFrame> frames) {
    return frames.stream()
        .filter(frame -> frame.kind() == Kind.JAVA && !frame.owner().endsWith(".misc.Unsafe"))
        .findFirst()
        .filter(frame -> OWNERS_WITH_CLEANER.contains(frame.owner()))
        .isPresent();
  }

  /**
   * Returns the function without its source line or offset: {@code java.util.zip.Deflater.init},
   * {@code libzip.so!deflateInit2_}, {@code libzip.so} without a symbol, {@code [unknown]} without
   * both.
   */
  public String function() {
    if (kind == Kind.JAVA) {
      return owner + "." + name;
    }
    if (kind == Kind.COMPILED) {
      return COMPILATION + owner + "." + name;
    }
    if (owner.isEmpty()) {
      return "[unknown]";
    }
    return name.isEmpty() ? owner : owner + "!" + name;
  }

  /**
   * Returns the function with its source line or offset: {@code
   * java.util.zip.Deflater.init(Deflater.java:123)}, {@code libzip.so!deflateInit2_+0x1f}, {@code
   * 0x7f0012345678}.
   */
  @Override
  public String toString() {
    if (kind == Kind.NATIVE) {
      return (owner.isEmpty() ? "" : function() + "+") + "0x" + Long.toHexString(offset);
    }
    if (source.isEmpty()) {
      return function();
    }
    return function() + "(" + source + (line > 0 ? ":" + line : "") + ")";
  }
}
