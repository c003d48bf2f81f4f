package io.mallometer.jmx;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The call sites that leak, by the latest evaluation. A notification of type {@link #LEAK} is sent
 * for each site that becomes a leak.
 *
 * <p>What is unknown is null.
 */
public interface LeakDetectorMXBean extends Described.OfLeakDetector {

  /** The type of the notification that a site has become a leak. */
  String LEAK = "io.mallometer.leak";

  Map<String, Long> getSites();

  Map<String, Long> getLeaksByEvidence();

  Map<String, Long> getSuspectedBytes();

  Map<String, Long> getUnusedBytes();

  /**
   * A verdict, as composite data.
   *
   * @param verdict leak, growing, pool or healthy
   * @param site who allocates
   * @param library the library that asked for the memory
   * @param number the call site's number
   * @param sentence the verdict in plain words
   * @param confidence how likely the verdict leak is right
   * @param suspectedBytes bytes in objects that were not accessed for long
   * @param suspectedBytesLow the lower end of its 95 % interval
   * @param suspectedBytesHigh the upper end
   * @param suspectedObjects those objects
   * @param liveBytes bytes in use
   * @param growthBytesPerHour by how many live bytes rise each hour, by the last minutes
   * @param idleSeconds the smallest idle time among the suspected
   * @param oldestSeconds the age of the oldest
   * @param evidence lost, outlasted or known of a leak, else slots, ages or none
   * @param since since when it is this verdict, ISO 8601
   * @param lastAccess where an object was last used, or why that is not known
   * @param lastWrite where one was last written, or why that is not known
   * @param acknowledged whether this site is known to be fine
   */
  record Site(
      String verdict,
      String site,
      String library,
      int number,
      String sentence,
      @Nullable Double confidence,
      @Nullable Long suspectedBytes,
      @Nullable Long suspectedBytesLow,
      @Nullable Long suspectedBytesHigh,
      @Nullable Long suspectedObjects,
      @Nullable Long liveBytes,
      @Nullable Long growthBytesPerHour,
      @Nullable Double idleSeconds,
      @Nullable Double oldestSeconds,
      String evidence,
      String since,
      String lastAccess,
      String lastWrite,
      boolean acknowledged) {}

  /**
   * Who holds the memory of a site, as composite data.
   *
   * @param outcome DONE, REFUSED or UNSUPPORTED
   * @param explanation the answer in one sentence, or why there is none
   * @param samples live samples that were looked for
   * @param pauseSeconds for how long each walk over the heap stopped the program
   * @param ways how the samples are held, firmest first, one line for each way and path
   * @param remarks what limits the answer
   */
  record Owners(
      String outcome,
      String explanation,
      int samples,
      List<Double> pauseSeconds,
      List<String> ways,
      List<String> remarks) {}
}
