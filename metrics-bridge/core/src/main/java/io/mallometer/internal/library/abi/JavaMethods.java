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
 * The Java methods in stacks, by the numbers that the library gives them. Each name is requested
 * once, soon after the method got its number, because the JVM forgets the name when the class is
 * unloaded. Thread-safe.
 */
final class JavaMethods {

  /** The JVM is considered to return no names if it returned none for this many methods. */
  private static final int ENOUGH = 100;

  /** Methods by number; null if the class was unloaded. */
  private final List<@Nullable RecordedMethod> known = new ArrayList<>();

  private final StringPool names = new StringPool();

  private int withName;
  private final Abi.Method struct;
  private final IntUnaryOperator ask;

  /**
   * Creates an empty table of methods.
   *
   * @param struct memory for one method
   * @param ask fills {@code struct} for a method's number; returns 0 or a negative errno value
   */
  JavaMethods(Abi.Method struct, IntUnaryOperator ask) {
    this.struct = struct;
    this.ask = ask;
  }

  /** Requests the names of all new methods. Must be called by a thread of the JVM. */
  void askForNewNames() {
    askForNewNames(Integer.MAX_VALUE);
  }

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

  private static String className(String signature) {
    int begin = signature.startsWith("L") ? 1 : 0;
    int end = signature.length() - (signature.endsWith(";") ? 1 : 0);
    return signature.substring(begin, Math.max(begin, end)).replace('/', '.');
  }

  /**
   * Returns whether the name of every method in a stack was requested. The name of a new method is
   * requested later if the library is still recording the method.
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

  synchronized Optional<RecordedMethod> of(int number) {
    return number >= 0 && number < known.size()
        ? Optional.ofNullable(known.get(number))
        : Optional.empty();
  }
}
