package io.mallometer.benchmarks.owner.kernels;

import io.mallometer.benchmarks.owner.Kernel;
import io.mallometer.model.OwnerReport.Holding;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A pool whose queue keeps all returned buffers; it hands out slices of its buffers. */
public final class QueuedPool implements Kernel {

  private static final QueuedPool POOL = new QueuedPool();

  private final Queue<ByteBuffer> idle = new ConcurrentLinkedQueue<>();

  @Override
  public Holding holding() {
    return Holding.KEPT;
  }

  @Override
  public List<String> words() {
    return List.of("DirectByteBuffer.address", "ConcurrentLinkedQueue", "static QueuedPool.POOL");
  }

  @Override
  public void plant() {
    for (int i = 0; i < 200; i++) {
      POOL.idle.add(ByteBuffer.allocateDirect(32 << 10).position(8).slice());
    }
  }
}
