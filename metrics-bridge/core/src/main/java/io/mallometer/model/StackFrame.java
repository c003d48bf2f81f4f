package io.mallometer.model;

import java.util.List;

/**
 * A function on a call stack.
 *
 * @param kind native, Java or compiled; the other components of a compiled frame are those of a
 *     Java frame
 * @param owner native: the library's name as in the tag {@code library}, such as {@code libzip.so},
 *     empty if the address belongs to none; Java: the class, such as {@code java.util.zip.Deflater}
 * @param name native: the demangled symbol without parameters, empty if none is known; Java: the
 *     method
 * @param source Java: the source file's name; empty if unknown
 * @param line Java: the line; 0 if unknown
 * @param offset native: the bytes behind the symbol, or else behind the library's load address, or
 *     else the address itself; 0 in Java
 */
public record StackFrame(
    Kind kind, String owner, String name, String source, int line, long offset) {

  /** The beginning of the name of a call site of a compiler thread, before the method. */
  public static final String COMPILATION = "compilation of ";

  /** Kind of code of a frame. */
  public enum Kind {
    /** Machine code of a library or of the executable. */
    NATIVE,
    /** A Java method, interpreted or compiled. */
    JAVA,
    /** The Java method that a compiler thread of the JVM compiles, innermost in its stack. */
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

  /** Returns the source line of a Java function in a stack; empty if unknown. */
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

  /** Returns this frame of a Java method as the one that is compiled. */
  public StackFrame asCompiled() {
    return new StackFrame(Kind.COMPILED, owner, name, source, 0, 0);
  }

  /**
   * Returns whether this frame is the JDK's code that calls a native function or a method handle.
   * Such frames differ between two JDKs, and before and after compilation.
   */
  public boolean isOfCall() {
    return kind == Kind.JAVA
        && (owner.startsWith("java.lang.invoke.") || owner.startsWith("jdk.internal.foreign."));
  }

  /**
   * Returns the function without the place in it: {@code java.util.zip.Deflater.init}, {@code
   * libzip.so!deflateInit2_}, {@code libzip.so} without a symbol, {@code [unknown]} without both.
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
   * Returns the function and the place: {@code java.util.zip.Deflater.init(Deflater.java:123)},
   * {@code libzip.so!deflateInit2_+0x1f}, {@code 0x7f0012345678}.
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
