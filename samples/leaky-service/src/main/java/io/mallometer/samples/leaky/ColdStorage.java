package io.mallometer.samples.leaky;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdCompressCtx;
import com.github.luben.zstd.ZstdDecompressCtx;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Keeps the latest reports, compressed with zstd.
 *
 * <p>The leak: some compression contexts stay open after they have compressed their report,
 * although nothing uses them again.
 */
final class ColdStorage {
  /**
   * The native memory of a context after a report of 21 kB, measured with zstd 1.5.7 at its default
   * level.
   */
  static final long CONTEXT_BYTES = 500_000;

  private static final int KEPT_REPORTS = 64;

  private final LeakSwitch leak;
  private final Queue<ZstdCompressCtx> openContexts = new ConcurrentLinkedQueue<>();
  private final Deque<byte[]> kept = new ArrayDeque<>();

  ColdStorage(LeakSwitch leak) {
    this.leak = leak;
  }

  /** Stores the report and drops the oldest beyond {@value #KEPT_REPORTS}. */
  synchronized void store(Report report) {
    ZstdCompressCtx context = new ZstdCompressCtx();
    kept.addLast(context.compress(report.text().getBytes(StandardCharsets.UTF_8)));
    if (kept.size() > KEPT_REPORTS) {
      kept.removeFirst();
    }
    if (leak.forgets(CONTEXT_BYTES)) {
      openContexts.add(context);
    } else {
      context.close();
    }
  }

  synchronized String oldest() {
    byte[] compressed = kept.peekFirst();
    if (compressed == null) {
      return "";
    }
    try (ZstdDecompressCtx context = new ZstdDecompressCtx()) {
      int length = Math.toIntExact(Zstd.getFrameContentSize(compressed));
      return new String(context.decompress(compressed, length), StandardCharsets.UTF_8);
    }
  }
}
