package io.mallometer.benchmarks.leaks;

import com.sun.jna.Native;

/** What much code allocates through, whether it leaks or not. */
final class SharedWrapper {

  private SharedWrapper() {}

  static Block allocate(int bytes) {
    return Block.of(Native.malloc(bytes), bytes).filled();
  }
}
