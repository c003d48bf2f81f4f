package io.mallometer.leaks;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.jna.Native;
import io.mallometer.junit.ExpectMaxNative;
import io.mallometer.junit.ExpectNativeFreed;
import io.mallometer.junit.ExpectNoNativeGrowth;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Contains three classes of tests that {@code ParallelTest} runs in parallel. */
public class SideBySide {

  private static final CountDownLatch ALL = new CountDownLatch(3);
  private static final Semaphore LEAKED = new Semaphore(0);

  private static void meet() throws InterruptedException {
    ALL.countDown();
    assertTrue(ALL.await(60, TimeUnit.SECONDS), "the tests do not run at the same time");
  }

  @Nested
  class Leaking {
    @Test
    @ExpectNoNativeGrowth
    void leaks() throws InterruptedException {
      meet();
      Native.malloc(1024);
      LEAKED.release();
    }
  }

  @Nested
  class Growing {
    /** Runs while Leaking.leaks() leaks memory. */
    @Test
    @ExpectNoNativeGrowth
    void doesNotGrow() throws InterruptedException {
      meet();
      LEAKED.tryAcquire(1, TimeUnit.SECONDS);
      Native.free(Native.malloc(1024));
    }
  }

  @Nested
  class Counting {
    @Test
    @ExpectMaxNative(calls = 1, bytes = 1024)
    @ExpectNativeFreed
    void callsOnce() throws InterruptedException {
      meet();
      Native.free(Native.malloc(1024));
    }
  }
}
