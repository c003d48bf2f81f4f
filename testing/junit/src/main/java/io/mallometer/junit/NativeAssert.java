package io.mallometer.junit;

import io.mallometer.model.ScopeCounts;
import java.util.List;

/** Returns the native memory that the code used. */
public final class NativeAssert {

  private final ScopeCounts use;
  private final LiveMemoryChange measured;

  NativeAssert(ScopeCounts use, LiveMemoryChange measured) {
    this.use = use;
    this.measured = measured;
  }

  /** Asserts that at most this many calls of malloc and its relatives succeeded. */
  public ScopeCounts use() {
    return use;
  }

  /**
   * Asserts that at most this number of calls of malloc and the functions of its family succeeded.
   */
  public NativeAssert callsAtMost(long calls) {
    return check(new Limits(calls, ExpectMaxNative.NONE, ExpectMaxNative.NONE));
  }

  /** Asserts that calls of malloc requested at most this many bytes. */
  public NativeAssert bytesAtMost(long bytes) {
    return check(new Limits(ExpectMaxNative.NONE, bytes, ExpectMaxNative.NONE));
  }

  /** Asserts that live bytes never exceeded those at the beginning by more than this. */
  public NativeAssert peakAtMost(long bytes) {
    return check(new Limits(ExpectMaxNative.NONE, ExpectMaxNative.NONE, bytes));
  }

  /** Asserts that at most this many bytes are not freed. */
  public NativeAssert keepsNothing() {
    return keepsAtMost(0);
  }

  /** Asserts that at most this number of bytes is not freed. */
  public NativeAssert keepsAtMost(long bytes) {
    Expectations.checkLeft(measured, bytes);
    return this;
  }

  private NativeAssert check(Limits limits) {
    limits.check(List.of(use), measured);
    return this;
  }
}
