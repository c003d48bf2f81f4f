package io.mallometer.jmx;

import java.util.List;
import java.util.Map;

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
