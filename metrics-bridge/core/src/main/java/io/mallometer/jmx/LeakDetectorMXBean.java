package io.mallometer.jmx;

import java.util.Map;

/**
 * The call sites that leak, by the latest evaluation. Sends a notification of type {@link #LEAK}
 * when a site becomes a leak.
 *
 * <p>An unknown value is null.
 */
public interface LeakDetectorMXBean extends Described.OfLeakDetector, Described.OfEach {

  /** The type of the notification that a site has become a leak. */
  String LEAK = "io.mallometer.leak";

  Map<String, Long> getSites();

  Map<String, Long> getLeaksByEvidence();

  Map<String, Long> getSuspectedBytes();

  Map<String, Long> getUnusedBytes();
}
