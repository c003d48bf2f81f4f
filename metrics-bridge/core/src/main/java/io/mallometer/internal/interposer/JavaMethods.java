package io.mallometer.internal.interposer;

import io.mallometer.internal.symbol.RecordedFrame;
import io.mallometer.internal.symbol.RecordedMethod;
import io.mallometer.internal.symbol.StringPool;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The Java methods that stacks lead through, by the library's numbers. Each is asked for once, soon
 * after it got its number, and then stays: the JVM forgets the name with the class.
 *
 * <p>Thread-safe.
 */
final class JavaMethods {

  /** ESRCH and ENODATA as the library returns them. */
  static final int GONE = -3;

  static final int NOT_NOW = -61;

  /** Of so many methods in a row at least one has a name, unless the JVM tells none at all. */
  private static final int ENOUGH = 100;

  /** By number; null where the class was gone. */
  private final List<@Nullable RecordedMethod> known = new ArrayList<>();

  /** A class and its source have many methods. */
  private final StringPool names = new StringPool();

  private int withName;
  private final Abi.Method struct;
  private final IntUnaryOperator ask;

  /**
   * Creates an empty table of methods.
   *
   * @param struct memory for one method
   * @param ask fills that memory for a method's number and returns 0 or a negative errno value
   */
  JavaMethods(Abi.Method struct, IntUnaryOperator ask) {
    this.struct = struct;
    this.ask = ask;
  }

  /** Asks for the names of all methods that are new. Must be called by a thread of the JVM. */
  void askForNewNames() {
    askForNewNames(Integer.MAX_VALUE);
  }

  /** Asks for the names of at most so many methods, the oldest of those that are new. */
  synchronized void askForNewNames(int most) {
    for (int asked = 0; asked < most; asked++) {
      int result = ask.applyAsInt(known.size());
      if (result == 0) {
        known.add(method());
        withName++;
      } else if (result == GONE) {
        known.add(null);
      } else {
        return;
      }
    }
  }

  private RecordedMethod method() {
    int[] lines = new int[2 * Math.min(Abi.METHOD_LINES, Math.max(0, struct.lineCount()))];
    for (int i = 0; i < lines.length; i++) {
      lines[i] = struct.lines(i);
    }
    return new RecordedMethod(
        names.shared(className(struct.classSignature())),
        struct.name(),
        names.shared(struct.source()),
        lines);
  }

  /**
   * Returns the class name of a signature such as {@code Ljava/lang/String;}. A truncated signature
   * has no semicolon.
   */
  private static String className(String signature) {
    int begin = signature.startsWith("L") ? 1 : 0;
    int end = signature.length() - (signature.endsWith(";") ? 1 : 0);
    return signature.substring(begin, Math.max(begin, end)).replace('/', '.');
  }

  /**
   * Whether all methods of a stack have been asked for: one that the library was just noting could
   * not be, nor could those behind it.
   */
  synchronized boolean askedForAllOf(long[] stack) {
    for (int i = stack.length - RecordedFrame.javaFrames(stack); i < stack.length; i++) {
      if (RecordedFrame.method(stack[i]) >= known.size()) {
        return false;
      }
    }
    return true;
  }

  /** Whether this JVM tells the name of no method, as one may that is newer than those tested. */
  synchronized boolean noneHasName() {
    return withName == 0 && known.size() >= ENOUGH;
  }

  /** The method of a number; empty if it has not been asked for, or its class was gone by then. */
  synchronized Optional<RecordedMethod> of(int number) {
    return number >= 0 && number < known.size()
        ? Optional.ofNullable(known.get(number))
        : Optional.empty();
  }
}
