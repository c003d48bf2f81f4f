package io.mallometer.leaks;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.jna.Native;
import io.mallometer.junit.ExpectMaxNative;
import io.mallometer.junit.MonitorNative;
import io.mallometer.junit.NativeMemory;
import io.mallometer.junit.NativeMemoryExtension;
import io.mallometer.junit.Of;
import io.mallometer.model.ScopeCounts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Sample tests, which {@code MonitorNativeTest} runs. */
public class Monitors {

  private static final long MIB = 1 << 20;

  private long kept;

  @AfterEach
  void free() {
    if (kept != 0) {
      Native.free(kept);
    }
  }

  @Test
  @MonitorNative(threshold = 20 << 20)
  void asksForLess() {
    Native.free(Native.malloc(20 * MIB));
  }

  @Test
  @MonitorNative(threshold = 20 << 20)
  void asksForMore() {
    Native.free(Native.malloc(30 * MIB));
  }

  @Test
  @MonitorNative(threshold = 20 << 20, failing = false)
  void onlyReports() throws InterruptedException {
    elsewhere();
  }

  @Test
  @MonitorNative(threshold = 20 << 20, of = Of.TEST)
  void anotherThreadAsksForMore() throws InterruptedException {
    elsewhere();
  }

  private static void elsewhere() throws InterruptedException {
    Thread other = new Thread(() -> Native.free(Native.malloc(30 * MIB)), "other-asks");
    other.start();
    other.join();
  }

  /** The other thread makes 200 requests above the threshold, more than a monitor stores. */
  @Test
  @MonitorNative(threshold = 20_000, of = Of.TEST)
  void asksForMoreOfLittle() throws InterruptedException {
    Thread other = new Thread(new Asking(), "other-asks");
    other.start();
    other.join();
    Native.free(Native.malloc(25_000));
  }

  /**
   * Makes the requests of the other thread. A lambda would allocate native memory in the test's
   * thread.
   */
  private static final class Asking implements Runnable {
    @Override
    public void run() {
      for (int i = 0; i < 200; i++) {
        Native.free(Native.malloc(30_000));
      }
    }
  }

  @Test
  @MonitorNative(threshold = 20 << 20)
  @ExpectMaxNative(calls = 0, warmups = 1, iterations = 1)
  void failsOfItself() {
    Native.free(Native.malloc(30 * MIB));
    throw new IllegalStateException("of the test itself");
  }

  @Test
  @MonitorNative(liveSize = 2L << 30)
  void becomesLive() {
    kept = Native.malloc(2L << 30);
  }

  @Test
  @MonitorNative(liveSize = 2L << 30)
  void becomesLiveForAMoment() {
    Native.free(Native.malloc(2L << 30));
  }

  @Test
  @MonitorNative(liveSize = 2L << 30)
  void staysBelow() {
    Native.free(Native.malloc(100 * MIB));
  }

  @Test
  @MonitorNative(sizes = true, matched = true, of = Of.TEST)
  void hasSizes() {
    for (int i = 0; i < 3; i++) {
      Native.free(Native.malloc(300_000));
    }
    kept = Native.malloc(1_024 * 1_024);
  }

  @Test
  @MonitorNative(matched = true)
  void matchesTheProcess() {}

  @Test
  @MonitorNative(csvMillis = 1, of = Of.TEST)
  void hasRows() {
    kept = Native.malloc(1_000_000);
  }

  @Test
  @ExtendWith(NativeMemoryExtension.class)
  void hasPhases(NativeMemory memory) {
    assertTrue(memory.nextPhase("load").isEmpty());
    Native.free(Native.malloc(50 * MIB));
    ScopeCounts load = memory.nextPhase("work").orElseThrow();
    assertTrue(load.calls() > 0, load::toString);
    assertTrue(load.requestedBytes() >= 50 * MIB, load::toString);
    assertTrue(load.largestBytes() >= 50 * MIB, load::toString);
  }
}
