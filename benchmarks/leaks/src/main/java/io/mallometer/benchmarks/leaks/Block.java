package io.mallometer.benchmarks.leaks;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.time.Duration;

/** Memory of malloc, and when it is due. */
record Block(long address, int bytes, Duration until) {

  /** Memory that belongs to nobody's plan. */
  static Block of(long address, int bytes) {
    return new Block(address, bytes, Duration.ZERO);
  }

  /** Writes to all of it. */
  Block filled() {
    new Pointer(address).setMemory(0, bytes, (byte) 1);
    return this;
  }

  /** Reads a byte of it. */
  byte read() {
    return new Pointer(address).getByte(bytes / 2);
  }

  void free() {
    Native.free(address);
  }
}
