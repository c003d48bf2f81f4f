package io.mallometer.benchmarks.owner.kernels;

import io.mallometer.benchmarks.owner.Kernel;
import io.mallometer.model.OwnerReport.Holding;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.Deflater;

/**
 * Deflaters that are never ended, in a static list. Java refers to the z_stream, which refers to
 * zlib's windows.
 */
public final class StaticCache implements Kernel {

  private static final List<Deflater> OPEN = new ArrayList<>();

  @Override
  public Holding holding() {
    return Holding.KEPT;
  }

  @Override
  public List<String> words() {
    return List.of("DeflaterZStreamRef.address", "Deflater.zsRef", "static StaticCache.OPEN");
  }

  @Override
  public void plant() {
    byte[] out = new byte[256];
    for (int i = 0; i < 200; i++) {
      Deflater deflater = new Deflater();
      deflater.setInput(new byte[5_000]);
      deflater.finish();
      deflater.deflate(out);
      OPEN.add(deflater);
    }
  }
}
