package io.mallometer.view;

import io.mallometer.model.CallSite;
import io.mallometer.model.Estimate;
import io.mallometer.model.SiteTrends;
import io.mallometer.model.StackFrame;
import java.time.Instant;
import java.util.List;

/**
 * Answer of {@code nativememory/trends}: live memory of libraries and sites in the last hour, of
 * the largest and of those that grew most.
 *
 * @param times milliseconds since 1970, the last being the latest reading
 * @param libraries by the library that asked for the memory, most live bytes first
 * @param sites by the code that asked for it, likewise
 * @param reason why there are none, or no Java frames in them; empty if nothing is missing
 */
public record TrendsView(List<Long> times, List<Group> libraries, List<Group> sites, String reason)
    implements View {

  /** So many that hold most, and so many that grew most. */
  static final int MOST = 10;

  /**
   * Sites taken together.
   *
   * @param name what they have in common
   * @param liveBytes bytes in use
   * @param liveObjects objects in use
   * @param bytesPerSecond bytes allocated for each second, lately
   * @param growthBytes by how much the live bytes grew from the first time to the last
   * @param history live bytes at each time
   * @param stacks those that hold most
   */
  public record Group(
      String name,
      Estimate liveBytes,
      Estimate liveObjects,
      double bytesPerSecond,
      @Whole double growthBytes,
      @Whole List<Double> history,
      List<Stack> stacks) {

    private static Group of(SiteTrends.Group group) {
      return new Group(
          group.figures().key(),
          group.figures().liveBytes(),
          group.figures().liveObjects(),
          group.figures().bytesPerSecond(),
          group.growthBytes(),
          group.liveBytes(),
          group.largest().stream().map(Stack::of).toList());
    }
  }

  /**
   * One call site of a group.
   *
   * @param number the site's number
   * @param library the library that asked for the memory
   * @param liveBytes bytes in use, estimated
   * @param medianAgeSeconds the age that half of the live bytes exceed
   * @param oldestAgeSeconds the age of the oldest that was seen
   * @param frames innermost first
   */
  public record Stack(
      int number,
      String library,
      long liveBytes,
      double medianAgeSeconds,
      double oldestAgeSeconds,
      List<StackFrame> frames) {

    private static Stack of(CallSite site) {
      return new Stack(
          site.number(),
          site.library(),
          Math.round(site.liveBytes().value()),
          site.ages().median(),
          site.ages().oldest(),
          site.frames());
    }
  }

  static TrendsView of(SiteTrends libraries, SiteTrends sites) {
    return new TrendsView(
        sites.times().stream().map(Instant::toEpochMilli).toList(),
        libraries.groups().stream().map(Group::of).toList(),
        sites.groups().stream().map(Group::of).toList(),
        sites.reason());
  }
}
