package io.mallometer.internal.diagnosis;

import io.mallometer.internal.text.HumanText;
import io.mallometer.model.PoolReport;
import io.mallometer.model.PoolReport.BufferSite;
import io.mallometer.model.PoolReport.Pool;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The account's rows for the chunks of pools, which a pool divides into buffers. The call sites
 * that allocate a pool's chunks are one row, because any line of code that needs a buffer can cause
 * a new chunk. To reduce the memory, a person must change the line whose buffers keep the chunks.
 */
final class PoolChunks {

  private final Map<Integer, String> bySite;
  private final Map<String, String> keepers = new HashMap<>();

  PoolChunks(Optional<PoolReport> report) {
    bySite = report.map(PoolReport::chunksBySite).orElse(Map.of());
    for (Pool pool : report.map(PoolReport::pools).orElse(List.of())) {
      pool.bufferSites().stream()
          .filter(BufferSite::isHeld)
          .findFirst()
          .map(site -> HumanText.shortLine(site.line()))
          .ifPresent(line -> keepers.putIfAbsent(pool.chunksName(), line));
    }
  }

  /**
   * Returns the name of the account's row for the chunks that a call site allocated; empty if the
   * site allocates no chunks.
   */
  Optional<String> of(int site) {
    return Optional.ofNullable(bySite.get(site));
  }

  /** Returns whether the row of the account with this name stands for the chunks of a pool. */
  boolean isName(String row) {
    return bySite.containsValue(row);
  }

  /**
   * Returns the line of code whose buffers prevent the release of a pool's chunks; empty if
   * unknown.
   */
  String keeper(String name) {
    return keepers.getOrDefault(name, "");
  }
}
