package io.mallometer.internal.library.abi;

import io.mallometer.internal.symbol.RecordedFrame;
import io.mallometer.internal.symbol.RecordedMethod;
import io.mallometer.internal.symbol.StringPool;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The Java methods in stacks, by the numbers that the library gives them. The name of each method
 * is requested once, soon after the method got its number, and is kept, because the JVM forgets the
 * name when the class is unloaded.
 *
 * <p>Thread-safe.
 */
final class JavaMethods {

  /** If none of this many methods has a name, the JVM is considered to return no names. */
  private static final int ENOUGH = 100;

  /** Methods by number; null if the class was unloaded. */
  private final List<@Nullable RecordedMethod> known = new ArrayList<>();

  /** The names of classes and sources, which many methods share. */
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

  /** Requests the names of all new methods. Must be called by a thread of the JVM. */
  void askForNewNames() {
    askForNewNames(Integer.MAX_VALUE);
  }

  /** Requests the names of at most {@code most} new methods, the oldest first. */
  synchronized void askForNewNames(int most) {
    for (int asked = 0; asked < most; asked++) {
      int result = ask.applyAsInt(known.size());
      if (result == 0) {
        known.add(method());
        withName++;
      } else if (result == Errno.ESRCH) {
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
   * Returns whether the names of all methods of a stack were requested. A method that the library
   * is just recording has no name yet, nor have methods with higher numbers.
   */
  synchronized boolean askedForAllOf(long[] stack) {
    for (long frame : stack) {
      if (RecordedFrame.isJava(frame) && RecordedFrame.method(frame) >= known.size()) {
        return false;
      }
    }
    return true;
  }

  /** Returns whether this JVM returns no names, which a JVM newer than the tested ones may do. */
  synchronized boolean noneHasName() {
    return withName == 0 && known.size() >= ENOUGH;
  }

  /** Returns the method of a number; empty if not requested yet, or its class was unloaded. */
  synchronized Optional<RecordedMethod> of(int number) {
    return number >= 0 && number < known.size()
        ? Optional.ofNullable(known.get(number))
        : Optional.empty();
  }
}
