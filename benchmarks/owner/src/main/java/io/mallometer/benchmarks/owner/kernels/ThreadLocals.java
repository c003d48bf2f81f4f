package io.mallometer.benchmarks.owner.kernels;

import io.mallometer.benchmarks.owner.Kernel;
import io.mallometer.model.OwnerReport.Holding;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** A buffer in a thread local of each of many threads that never end. */
public final class ThreadLocals implements Kernel {

  private static final ThreadLocal<ByteBuffer> SCRATCH = new ThreadLocal<>();
  private static final CountDownLatch NEVER = new CountDownLatch(1);

  @Override
  public Holding holding() {
    return Holding.KEPT;
  }

  @Override
  public List<String> words() {
    return List.of("DirectByteBuffer.address", "ThreadLocal", "live thread");
  }

  @Override
  public void plant() throws InterruptedException {
    for (int i = 0; i < 100; i++) {
      CountDownLatch ready = new CountDownLatch(1);
      Thread worker = new Thread(() -> work(ready), "kernel-worker-" + i);
      worker.setDaemon(true);
      worker.start();
      ready.await();
    }
  }

  private static void work(CountDownLatch ready) {
    SCRATCH.set(ByteBuffer.allocateDirect(64 << 10));
    ready.countDown();
    try {
      NEVER.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
