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
 * The chunks that memory pools allocate and then divide into buffers. All call sites that allocate
 * chunks of one pool count as one, because any code that needs a buffer can cause a new chunk. A
 * user must change the line of code that allocated the buffers which keep the chunks in use.
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
   * Returns the name under which the chunks of a call site are counted; empty if the site allocates
   * no chunks.
   */
  Optional<String> of(int site) {
    return Optional.ofNullable(bySite.get(site));
  }

  boolean isName(String row) {
    return bySite.containsValue(row);
  }

  /**
   * Returns the line of code that allocated the buffers which keep a pool's chunks in use; empty if
   * unknown.
   */
  String keeper(String name) {
    return keepers.getOrDefault(name, "");
  }
}
