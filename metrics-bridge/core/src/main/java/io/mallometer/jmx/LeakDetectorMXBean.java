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
   * @param site the call site's name
   * @param library the library that asked for the memory
   * @param number the call site's number
   * @param sentence the verdict in plain words
   * @param confidence how likely the verdict leak is right
   * @param suspectedBytes bytes of the suspected objects: lost ones, or idle ones
   * @param suspectedBytesLow the lower end of its 95 % interval
   * @param suspectedBytesHigh the upper end
   * @param suspectedObjects the suspected objects
   * @param liveBytes live bytes
   * @param growthBytesPerHour the rise of live bytes in an hour, at the rate of the last minutes
   * @param idleSeconds the smallest idle time of a suspected object
   * @param oldestSeconds the age of the oldest suspected object
   * @param evidence lost, outlasted or known for a leak; slots, ages or none for other verdicts
   * @param since the time from which on the verdict holds, ISO 8601
   * @param lastAccess the code that last used an object, or why it is unknown
   * @param lastWrite the code that last wrote an object, or why it is unknown
   * @param acknowledged whether a person acknowledged the site
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
