package io.mallometer.benchmarks.owner.kernels;

import com.github.luben.zstd.ZstdCompressCtx;
import io.mallometer.benchmarks.owner.Kernel;
import io.mallometer.model.OwnerReport.Holding;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Compressors of zstd that are never closed, in a map of the application. */
public final class ZstdContexts implements Kernel {

  private static final Map<Integer, ZstdCompressCtx> BY_TENANT = new HashMap<>();

  @Override
  public Holding holding() {
    return Holding.KEPT;
  }

  @Override
  public List<String> words() {
    return List.of("nativePtr", "static ZstdContexts.BY_TENANT");
  }

  @Override
  public void plant() {
    for (int i = 0; i < 120; i++) {
      ZstdCompressCtx context = new ZstdCompressCtx();
      context.setLevel(1);
      context.compress(new byte[5_000]);
      BY_TENANT.put(i, context);
    }
  }
}
