package io.mallometer.benchmarks.owner.kernels;

import com.github.luben.zstd.ZstdCompressCtx;
import io.mallometer.benchmarks.owner.Kernel;
import io.mallometer.model.OwnerReport.Holding;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.WeakHashMap;

/**
 * Codecs in a weak map whose values refer to their keys, so that no key becomes weakly reachable.
 * Nothing else refers to the connections, and yet they stay. Java refers to zstd's context, which
 * refers to its tables.
 */
public final class WeakKeys implements Kernel {

  private static final Map<Connection, Codec> CODECS = new WeakHashMap<>();

  private record Codec(Connection connection, ZstdCompressCtx context) {}

  private static final class Connection {
    private final int number;

    private Connection(int number) {
      this.number = number;
    }

    @Override
    public String toString() {
      return "connection " + number;
    }
  }

  @Override
  public Holding holding() {
    return Holding.KEPT;
  }

  @Override
  public List<String> words() {
    return List.of("ZstdCompressCtx.nativePtr", "Codec.context", "static WeakKeys.CODECS");
  }

  @Override
  public void plant() {
    byte[] message = new byte[20_000];
    new Random(1).nextBytes(message);
    for (int i = 0; i < 150; i++) {
      Connection connection = new Connection(i);
      ZstdCompressCtx context = new ZstdCompressCtx();
      context.compress(message);
      CODECS.put(connection, new Codec(connection, context));
    }
  }
}
