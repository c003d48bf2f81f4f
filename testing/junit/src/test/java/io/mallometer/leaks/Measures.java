package io.mallometer.leaks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.jna.Native;
import io.mallometer.junit.ExpectMaxNative;
import io.mallometer.junit.ExpectNativeFreed;
import io.mallometer.junit.NativeMemory;
import io.mallometer.junit.NativeMemoryExtension;
import io.mallometer.model.ScopeCounts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Sample tests, which {@code MeasuredTest} runs. */
public class Measures {

  @Test
  @ExtendWith(NativeMemoryExtension.class)
  void measuresThisThread(NativeMemory memory) {
    allocate();
    memory.measure(Measures::allocate);
    ScopeCounts use = memory.measure(Measures::allocate);
    assertEquals(2, use.calls());
    assertEquals(1, use.smallCalls());
    assertEquals(1, use.largeCalls());
    assertEquals(100_100, use.requestedBytes());
    assertEquals(2, use.frees());
    assertEquals(0, use.netBytes());
    assertTrue(
        use.peakBytes() >= 100_100 && use.peakBytes() < 101_000, () -> "peak " + use.peakBytes());
    assertEquals(100_000, use.largestBytes());
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
