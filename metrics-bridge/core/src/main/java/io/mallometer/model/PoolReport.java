package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.COUNT;
import static io.mallometer.model.Figure.Unit.SECONDS;

import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The pools of libraries, such as Netty, that allocate large native chunks and give parts of them
 * to their users.
 */
public record PoolReport(
    @Figure("When the pools were looked at") Instant time,
    @Figure(value = "The CPU time of the look at the pools", unit = SECONDS) double lookSeconds,
    @Figure(
            value = "Native bytes of all pools together",
            unit = BYTES,
            meter = "native.pool.size",
            attribute = "PoolSizeBytes")
        double bytes,
    @Figure(
            value =
                "Bytes that the pools have handed out or cache for threads, of the pools that"
                    + " report them",
            unit = BYTES,
            meter = "native.pool.used",
            attribute = "PoolUsedBytes")
        double usedBytes,
    @Figure("The pools, most bytes first") List<Pool> pools) {

  private static final double HELD_SECONDS = 60;

  /**
   * The pools of one kind in one copy of a library, such as Netty. The figures of buffers are
   * estimates, because the pool's library tracks only a sample of the buffers.
   */
  public record Pool(
      @Figure(value = "The origin", inline = true) PoolOrigin origin,
      @Figure(value = "The sizes", inline = true) Amounts amounts,
      @Figure(value = "The live bytes of the call sites that allocated chunks", unit = BYTES)
          double siteBytes,
      @Figure("The numbers of these call sites, most live bytes first, at most 99")
          List<Integer> sites,
      @Figure(value = "N, if the library tracks one buffer in N; 0 if it tracks none", unit = COUNT)
          int samplingInterval,
      @Figure("Why buffers or figures are missing; empty if nothing is missing") String reason,
      @Figure("All of this in one sentence") String sentence,
      @Figure(
              "The lines that allocated live or forgotten buffers, suspects first, then forgotten"
                  + " ones")
          List<BufferSite> bufferSites) {

    public Pool {
      sites = List.copyOf(sites);
      bufferSites = List.copyOf(bufferSites);
    }

    /**
     * Returns the name of the row in the {@link Account} that shows the chunks of this pool. Pools
     * of one library and kind share a row.
     */
    public String chunksName() {
      return "%s (%s) chunks".formatted(origin.library(), origin.kind());
    }
  }

  /** The library that has a pool. */
  public record PoolOrigin(
      @Figure("The library, such as Netty") String library,
      @Figure("The package of this copy of it, such as io.netty") String packageName,
      @Figure("The kind of its pools: pooled or adaptive") String kind) {}

  /** The sizes of pools; {@code NaN} if unknown. */
  public record Amounts(
      @Figure(value = "The number of chunks; unknown for adaptive pools", unit = COUNT)
          double chunks,
      @Figure(value = "The bytes of the chunks", unit = BYTES) double bytes,
      @Figure(
              value =
                  "Bytes that were handed out and not returned, those that threads cache included;"
                      + " unknown for adaptive pools",
              unit = BYTES)
          double usedBytes,
      @Figure(value = "Used bytes that no buffer has, because threads cache them", unit = BYTES)
          double cachedBytes) {

    /** The sizes of pools that could not be read. */
    public static final Amounts UNKNOWN =
        new Amounts(Double.NaN, Double.NaN, Double.NaN, Double.NaN);
  }

  /** A line of code that allocated live buffers, or buffers that were dropped without release. */
  public record BufferSite(
      @Figure("The class, method and line that allocated the buffers") String line,
      @Figure(value = "The live buffers", unit = COUNT) Estimate buffers,
      @Figure(value = "Their bytes", unit = BYTES) Estimate bytes,
      @Figure(value = "The tracked buffers", inline = true) Tracks tracks,
      @Figure(value = "How long buffers are held", inline = true) Hold hold,
      @Figure(
              value =
                  "The buffers that a garbage collection found without a release, since the start",
              unit = COUNT)
          Estimate forgotten,
      @Figure("The forgotten buffers in one sentence; empty if none was found")
          String forgottenSentence) {

    /**
     * Returns whether a buffer that this line of code allocated has been tracked for at least a
     * minute.
     */
    public boolean isHeld() {
      return tracks.oldestSeconds() >= HELD_SECONDS;
    }
  }

  /** The tracked buffers of a line of code. */
  public record Tracks(
      @Figure(value = "How many of the live buffers are tracked", unit = COUNT) int tracked,
      @Figure(value = "The number of chunks with tracked buffers: a lower bound", unit = COUNT)
          int chunks,
      @Figure(value = "How long the oldest tracked buffer has been watched", unit = SECONDS)
          double oldestSeconds,
      @Figure(
              value = "Tracked buffers that were released after a minute or more, in the last hour",
              unit = COUNT)
          int releasedLate) {}

  /** Whether a line of code holds its buffers for longer and longer times. */
  public record Hold(
      @Figure("Whether the buffers are held longer and longer") boolean suspect,
      @Figure(
              value =
                  "How long the oldest tracked buffer that arrived under watch is held; 0 unless"
                      + " the line is a suspect",
              unit = SECONDS)
          double risingSeconds,
      @Figure("The finding in one sentence; empty unless it is a suspect") String sentence) {}

  public PoolReport {
    pools = List.copyOf(pools);
  }

  /**
   * Returns the call sites that allocated chunks of pools. The keys are the numbers of the call
   * sites. The values are the names of the rows that show the chunks in an {@link Account}.
   */
  public Map<Integer, String> chunksBySite() {
    Map<Integer, String> names = new HashMap<>();
    pools.forEach(pool -> pool.sites().forEach(site -> names.put(site, pool.chunksName())));
    return names;
  }
}
