package io.mallometer.internal.symbol;

/**
 * A Java method, as the JVM described it before its class could be unloaded.
 *
 * @param className such as {@code java.util.zip.Deflater}
 * @param method such as {@code init}
 * @param source the source file's name; empty if unknown
 * @param lines pairs of a bytecode index and the line that begins there, in the order of the class
 *     file; empty if unknown
 */
public record RecordedMethod(String className, String method, String source, int[] lines) {}
