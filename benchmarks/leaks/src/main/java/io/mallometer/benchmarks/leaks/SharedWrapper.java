package io.mallometer.benchmarks.leaks;

import com.sun.jna.Native;

/** A method through which code with and without a leak allocates. */
final class SharedWrapper {

  private SharedWrapper() {}

  static Block allocate(int bytes) {
    return Block.of(Native.malloc(bytes), bytes).filled();
  }
}
