package io.mallometer.benchmarks.owner.kernels;

import io.mallometer.benchmarks.owner.Kernel;
import io.mallometer.model.OwnerReport.Holding;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;

/** Buffers of a pool of Netty that are never released: they keep slices of its chunks. */
public final class NettyChunks implements Kernel {

  private static final List<ByteBuf> UNRELEASED = new ArrayList<>();

  @Override
  public Holding holding() {
    return Holding.KEPT;
  }

  @Override
  public List<String> words() {
    return List.of("static NettyChunks.UNRELEASED");
  }

  @Override
  public void plant() {
    PooledByteBufAllocator pool = new PooledByteBufAllocator(true);
    for (int i = 0; i < 120; i++) {
      UNRELEASED.add(pool.directBuffer(1 << 20));
    }
  }
}
