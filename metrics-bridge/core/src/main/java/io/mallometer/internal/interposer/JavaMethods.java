package io.mallometer.internal.interposer;

import io.mallometer.internal.symbol.RecordedFrame;
import io.mallometer.internal.symbol.RecordedMethod;
import io.mallometer.internal.symbol.StringPool;
import java.nio.ByteBuffer;
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
  private final ByteBuffer struct;
  private final IntUnaryOperator ask;

  /**
   * Methods that are asked for by a function.
   *
   * @param struct a {@code struct mallometer_method}
   * @param ask fills it for a number, and returns 0 or a negative errno value
   */
  JavaMethods(ByteBuffer struct, IntUnaryOperator ask) {
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
      struct.putInt(SiteLayout.METHOD_SIZE, SiteLayout.METHOD_BYTES);
      int result = ask.applyAsInt(known.size());
      if (result == 0) {
        known.add(shared(SiteLayout.method(struct)));
        withName++;
      } else if (result == GONE) {
        known.add(null);
      } else {
        return;
      }
    }
  }

  private RecordedMethod shared(RecordedMethod method) {
    return new RecordedMethod(
        names.shared(method.className()),
        method.method(),
        names.shared(method.source()),
        method.lines());
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
