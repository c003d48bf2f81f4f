package io.mallometer.leaks;

import com.sun.jna.Native;
import io.mallometer.junit.MonitorNative;
import org.junit.jupiter.api.Test;

/** A test that {@code MonitorNativeTest} runs. */
@MonitorNative(threshold = 20 << 20)
public class MonitoredClass {

  @Test
  void asksForMore() {
    Native.free(Native.malloc(30 << 20));
  }

  @Test
  void asksForLess() {
    Native.free(Native.malloc(20 << 20));
  }

  @Test
  @MonitorNative(threshold = 40 << 20)
  void hasItsOwn() {
    Native.free(Native.malloc(30 << 20));
  }
}
