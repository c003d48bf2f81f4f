package io.mallometer.benchmarks.owner.kernels;

import io.mallometer.benchmarks.owner.Kernel;
import io.mallometer.model.OwnerReport.Holding;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Threads that wait. Each Thread object has the address of the JVM's description of it. */
public final class LiveThreads implements Kernel {

  private static final CountDownLatch NEVER = new CountDownLatch(1);

  @Override
  public Holding holding() {
    return Holding.KEPT;
  }

  @Override
  public List<String> words() {
    return List.of("Thread.eetop");
  }

  @Override
  public void plant() {
    for (int i = 0; i < 150; i++) {
      Thread thread = new Thread(LiveThreads::await);
      thread.setDaemon(true);
      thread.start();
    }
  }

  private static void await() {
    try {
      NEVER.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
