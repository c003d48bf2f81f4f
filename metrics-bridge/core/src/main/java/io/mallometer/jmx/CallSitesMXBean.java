package io.mallometer.jmx;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Call sites that allocated native memory, with their live memory, estimated from samples.
 *
 * <p>Attributes named {@code LiveBy} are those of the latest poll; all else is read when it is
 * asked for, at most once a second. What is unknown is null.
 */
public interface CallSitesMXBean extends Described.OfCallSites {

  Map<String, Long> getLiveByLibrary();

  Map<String, Long> getLiveBySite();

  @Nullable Double getOverheadTarget();

  @Nullable Long getSamples();

  Map<String, Long> getDroppedSamples();

  /**
   * An estimate, as composite data.
   *
   * @param value what is estimated
   * @param low the lower end of the 95 % interval
   * @param high its upper end
   */
  record Interval(long value, long low, long high) {}

  /**
   * One call site, as composite data.
   *
   * @param number the site's number
   * @param name who allocates
   * @param library the library that asked for the memory
   * @param samples how many allocations were looked at
   * @param liveBytes bytes in use
   * @param liveObjects objects in use
   * @param allocatedBytes bytes allocated since the process started
   * @param allocatedObjects objects allocated since then
   * @param bytesPerSecond bytes allocated for each second, lately; null if unknown
   * @param medianAgeSeconds the age that half of the live bytes exceed; null if nothing is live
   */
  record Site(
      int number,
      String name,
      String library,
      long samples,
      Interval liveBytes,
      Interval liveObjects,
      Interval allocatedBytes,
      Interval allocatedObjects,
      @Nullable Double bytesPerSecond,
      @Nullable Double medianAgeSeconds) {}

  /**
   * Call sites taken together, as composite data.
   *
   * @param key what they have in common
   * @param sites how many they are
   * @param samples how many allocations were looked at
   * @param liveBytes bytes in use
   * @param liveObjects objects in use
   * @param allocatedBytes bytes allocated since the process started
   * @param allocatedObjects objects allocated since then
   * @param bytesPerSecond bytes allocated for each second, lately; null if unknown
   */
  record Group(
      String key,
      int sites,
      long samples,
      Interval liveBytes,
      Interval liveObjects,
      Interval allocatedBytes,
      Interval allocatedObjects,
      @Nullable Double bytesPerSecond) {}
}
