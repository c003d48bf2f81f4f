package io.mallometer.jmx;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Call sites that allocated native memory, with their live memory, estimated from samples.
 *
 * <p>{@code LiveBy...} and {@code ResidentBy...} are from the latest poll. Other attributes are
 * read at a request, at most once a second. An unknown figure is null.
 */
public interface CallSitesMXBean extends Described.OfCallSites, Described.OfEach {

  Map<String, Long> getLiveByLibrary();

  Map<String, Long> getLiveBySite();

  Map<String, Long> getResidentBySite();

  @Nullable Double getOverheadTarget();

  @Nullable Long getSamples();

  Map<String, Long> getDroppedSamples();
}
