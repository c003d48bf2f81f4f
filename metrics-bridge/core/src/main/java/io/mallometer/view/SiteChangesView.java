package io.mallometer.view;

import io.mallometer.model.SiteChange;
import io.mallometer.model.SiteChanges;
import io.mallometer.model.StackFrame;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;

/**
 * Answer of {@code nativememory/sites?from=}. Unknown numbers are {@code NaN}.
 *
 * @param from the first moment, the nearest to the one asked for, in ISO 8601
 * @param to the second moment, likewise
 * @param reason why the changes are only those since the first reading; empty if nothing is missing
 * @param matching how many sites changed, of which {@link #changes()} are the first
 * @param changes what changed
 */
public record SiteChangesView(
    Instant from, Instant to, String reason, int matching, List<Change> changes) implements View {

  /**
   * Change of a site, estimated.
   *
   * @param number the site's number
   * @param name who allocates
   * @param library the library that asked for the memory
   * @param liveBytesBefore bytes in use at the first moment
   * @param liveBytesAfter bytes in use at the second
   * @param liveBytesGrowth by how much they grew; negative if they shrank
   * @param liveObjectsBefore objects in use at the first moment
   * @param liveObjectsAfter objects in use at the second
   * @param liveObjectsGrowth by how much they grew; negative if they shrank
   * @param allocatedBytes bytes allocated in between
   * @param frames the stack, innermost first
   */
  public record Change(
      int number,
      String name,
      String library,
      @Whole double liveBytesBefore,
      @Whole double liveBytesAfter,
      @Whole double liveBytesGrowth,
      @Whole double liveObjectsBefore,
      @Whole double liveObjectsAfter,
      @Whole double liveObjectsGrowth,
      @Whole double allocatedBytes,
      List<StackFrame> frames) {

    private static Change of(SiteChange change) {
      return new Change(
          change.number(),
          change.name(),
          change.library(),
          change.liveBytesBefore(),
          change.liveBytesAfter(),
          change.liveBytesGrowth(),
          change.liveObjectsBefore(),
          change.liveObjectsAfter(),
          change.liveObjectsGrowth(),
          change.allocatedBytes(),
          change.frames());
    }
  }

  /**
   * The changes that are wanted.
   *
   * @throws IllegalArgumentException with the reason, if nothing is known
   */
  static SiteChangesView of(
      SiteChanges changes, Predicate<SiteChange> wanted, Comparator<SiteChange> order, int most) {
    Instant first =
        changes.from().orElseThrow(() -> new IllegalArgumentException(changes.reason()));
    List<SiteChange> matching = changes.changes().stream().filter(wanted).sorted(order).toList();
    return new SiteChangesView(
        first,
        changes.to().orElseThrow(),
        changes.reason(),
        matching.size(),
        SiteQuery.rows(matching, most, Change::of));
  }
}
