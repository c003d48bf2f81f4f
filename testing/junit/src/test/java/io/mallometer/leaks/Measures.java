package io.mallometer.leaks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.jna.Native;
import io.mallometer.junit.ExpectMaxNative;
import io.mallometer.junit.ExpectNativeFreed;
import io.mallometer.junit.NativeMemory;
import io.mallometer.junit.NativeMemoryExtension;
import io.mallometer.junit.NativeUse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Not run by itself: {@code MeasuredTest} runs it. */
public class Measures {

  @Test
  @ExtendWith(NativeMemoryExtension.class)
  void measuresThisThread(NativeMemory memory) {
    allocate();
    memory.measure(Measures::allocate);
    NativeUse use = memory.measure(Measures::allocate);
    assertEquals(2, use.calls());
    assertEquals(1, use.small());
    assertEquals(1, use.large());
    assertEquals(100_100, use.bytes());
    assertEquals(2, use.frees());
    assertEquals(0, use.kept());
    assertTrue(use.peak() >= 100_100 && use.peak() < 101_000, () -> "peak " + use.peak());
    assertEquals(100_000, use.largest());
    memory
        .assertThat(Measures::allocate)
        .callsAtMost(2)
        .bytesAtMost(100_100)
        .peakAtMost(101_000)
        .keepsNothing();
  }

  @Test
  @ExpectMaxNative(peak = 50_000)
  void hasAHighPeak() {
    Native.free(Native.malloc(100_000));
  }

  @Test
  @ExpectNativeFreed
  void leavesSomething() {
    Native.malloc(1024);
  }

  private static void allocate() {
    long small = Native.malloc(100);
    long large = Native.malloc(100_000);
    Native.free(small);
    Native.free(large);
  }
}
