package io.mallometer.jmx;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Who allocated native memory, estimated from samples, with what is live of it.
 *
 * <p>Attributes named {@code LiveBy} are those of the latest poll; all else is read when it is
 * asked for, at most once a second. What is unknown is null.
 */
public interface CallSitesMXBean {

  @Attribute("When the call sites were read, ISO 8601")
  String getTime();

  @Attribute("Why there are no call sites, or no Java frames in them; empty if nothing is missing")
  String getReason();

  @Attribute(
      value = "Allocations that were looked at closely",
      units = "samples",
      type = Attribute.COUNTER)
  @Nullable Long getSamples();

  @Attribute(
      value =
          "What call sites lack for want of room: samples (no-site), their end (not-followed), and"
              + " the call paths of allocations (no-path)",
      units = "samples",
      type = Attribute.COUNTER)
  Map<String, Long> getDroppedSamples();

  @Attribute(
      value = "Share of one processor's time that samples may take",
      units = "ratio",
      type = Attribute.GAUGE)
  @Nullable Double getOverheadTarget();

  @Attribute(
      value = "Native memory in use by the library that asked for it, at the latest poll",
      units = "bytes",
      type = Attribute.GAUGE)
  Map<String, Long> getLiveByLibrary();

  @Attribute(
      value = "Native memory in use by the code that asked for it, at the latest poll",
      units = "bytes",
      type = Attribute.GAUGE)
  Map<String, Long> getLiveBySite();

  @Attribute("The 20 call sites, by their whole stack, with most live bytes, most first")
  List<Site> getTopSites();

  @Attribute("The 20 libraries with most live bytes, most first")
  List<Group> getTopLibraries();

  /**
   * Call sites taken together.
   *
   * @throws IllegalArgumentException if an argument is none of those that it may be
   */
  @Attribute("Call sites taken together, largest first")
  List<Group> groups(
      @Argument(name = "grouping", value = "By what: site, library, frame or package")
          String grouping,
      @Argument(name = "sort", value = "live, live-objects, allocated, allocated-objects or rate")
          String sort,
      @Argument(name = "limit", value = "How many at most, 1 to 10000") int limit);

  /**
   * The stack of a site.
   *
   * @throws IllegalArgumentException if there is no such site
   */
  @Attribute("The stack of a call site, innermost frame first")
  List<String> stack(@Argument(name = "number", value = "The site's number") int number);

  /**
   * A report as text.
   *
   * @throws IllegalArgumentException if there is no such format or metric, or the format is not
   *     text
   * @throws IOException if the report cannot be written
   */
  @Attribute("A report of all call sites as text")
  String export(
      @Argument(name = "format", value = "collapsed, flamegraph, dhat or table") String format,
      @Argument(name = "metric", value = "live, live-objects, allocated or allocated-objects")
          String metric)
      throws IOException;

  /**
   * Writes a report into a new file of this machine that only its owner may read.
   *
   * @return the file's absolute path and its size
   * @throws IllegalArgumentException if there is no such format or metric, or the file exists
   * @throws IOException if the file cannot be written
   */
  @Attribute("Writes a report of all call sites into a new file that only its owner may read")
  String exportTo(
      @Argument(name = "format", value = "collapsed, flamegraph, pprof, dhat or table")
          String format,
      @Argument(name = "metric", value = "live, live-objects, allocated or allocated-objects")
          String metric,
      @Argument(name = "file", value = "The path of a file that does not exist yet") String file)
      throws IOException;

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
   * @param bytesPerSecond bytes allocated for each second between the last two readings; null if
   *     unknown
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
   * @param bytesPerSecond bytes allocated for each second between the last two readings; null if
   *     unknown
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
