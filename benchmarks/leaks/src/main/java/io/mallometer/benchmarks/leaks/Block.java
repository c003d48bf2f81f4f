package io.mallometer.benchmarks.leaks;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.time.Duration;

/** Memory of malloc, with the time until which it is needed. */
record Block(long address, int bytes, Duration until) {

  /** Returns memory without a time. */
  static Block of(long address, int bytes) {
    return new Block(address, bytes, Duration.ZERO);
  }

  /** Writes to all of the block. */
  Block filled() {
    new Pointer(address).setMemory(0, bytes, (byte) 1);
    return this;
  }

  /** Reads a byte of the block. */
  byte read() {
    return new Pointer(address).getByte(bytes / 2);
  }

  void free() {
    Native.free(address);
  }
}
