package io.mallometer.benchmarks.owner.kernels;

import com.sun.jna.Native;
import io.mallometer.benchmarks.owner.Kernel;
import io.mallometer.model.OwnerReport.Holding;
import java.util.List;

/** Memory whose address is stored nowhere. */
public final class LostInC implements Kernel {

  @Override
  public Holding holding() {
    return Holding.NOBODY;
  }

  @Override
  public List<String> words() {
    return List.of();
  }

  @Override
  public void plant() {
    for (int i = 0; i < 200; i++) {
      Native.malloc(12_000);
    }
  }
}
