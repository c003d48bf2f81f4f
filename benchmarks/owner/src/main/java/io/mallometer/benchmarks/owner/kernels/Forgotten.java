package io.mallometer.benchmarks.owner.kernels;

import io.mallometer.benchmarks.owner.Kernel;
import io.mallometer.model.OwnerReport.Holding;
import java.nio.ByteBuffer;
import java.util.List;

/** Buffers without a reference, in a heap that is too idle to be collected. */
public final class Forgotten implements Kernel {

  @Override
  public Holding holding() {
    return Holding.GARBAGE;
  }

  @Override
  public List<String> words() {
    return List.of("DirectByteBuffer");
  }

  @Override
  public void plant() {
    for (int i = 0; i < 200; i++) {
      ByteBuffer.allocateDirect(16 << 10).putInt(0, i);
    }
  }
}
