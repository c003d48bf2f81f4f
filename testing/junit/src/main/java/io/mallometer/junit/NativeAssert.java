package io.mallometer.junit;

import io.mallometer.model.ScopeCounts;
import java.util.List;

/**
 * Assertions on the native memory that a piece of code used. An assertion returns this object, or
 * throws an {@code AssertionFailedError} with the value, the limit and stacks.
 */
public final class NativeAssert {

  private final ScopeCounts use;
  private final LiveMemoryChange measured;

  NativeAssert(ScopeCounts use, LiveMemoryChange measured) {
    this.use = use;
    this.measured = measured;
  }

  /** Returns the native memory that the code used. */
  public ScopeCounts use() {
    return use;
  }

  /** Asserts that at most this many calls of malloc and its relatives succeeded. */
  public NativeAssert callsAtMost(long calls) {
    return check(new Limits(calls, ExpectMaxNative.NONE, ExpectMaxNative.NONE));
  }

  /** Asserts that calls of malloc requested at most this many bytes. */
  public NativeAssert bytesAtMost(long bytes) {
    return check(new Limits(ExpectMaxNative.NONE, bytes, ExpectMaxNative.NONE));
  }

  /** Asserts that live bytes never rose more than {@code bytes} above their initial value. */
  public NativeAssert peakAtMost(long bytes) {
    return check(new Limits(ExpectMaxNative.NONE, ExpectMaxNative.NONE, bytes));
  }

  /** Asserts that everything is freed, as {@link ExpectNativeFreed} does. */
  public NativeAssert keepsNothing() {
    return keepsAtMost(0);
  }

  /** Asserts that at most this many bytes are not freed. */
  public NativeAssert keepsAtMost(long bytes) {
    Expectations.checkLeft(measured, bytes);
    return this;
  }

  private NativeAssert check(Limits limits) {
    limits.check(List.of(use), measured);
    return this;
  }
}
