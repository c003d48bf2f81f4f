package io.mallometer.benchmarks.owner.kernels;

import io.mallometer.benchmarks.owner.Kernel;
import io.mallometer.model.OwnerReport.Holding;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Threads that wait for a service without an answer. Each has its request in a local variable that
 * is used after the wait, and no field leads to the request.
 */
public final class StuckRequests implements Kernel {

  private static final CountDownLatch ANSWER = new CountDownLatch(1);

  private record Request(ByteBuffer body) {}

  @Override
  public Holding holding() {
    return Holding.LOCAL_VARIABLE;
  }

  @Override
  public List<String> words() {
    return List.of("DirectByteBuffer.address", "Request.body");
  }

  @Override
  public void plant() throws InterruptedException {
    int threads = 100;
    CountDownLatch waiting = new CountDownLatch(threads);
    for (int i = 0; i < threads; i++) {
      Thread thread = new Thread(() -> serve(waiting), "http-" + i);
      thread.setDaemon(true);
      thread.start();
    }
    waiting.await();
  }

  private static void serve(CountDownLatch waiting) {
    Request request = new Request(ByteBuffer.allocateDirect(48_000));
    waiting.countDown();
    try {
      ANSWER.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    request.body().put(0, (byte) 1);
  }
}
