package io.mallometer.model;

import java.util.Comparator;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * Change of a call site between two moments. What is not known of one of them is {@code NaN}: of
 * more than 4,096 sites only the largest are kept.
 *
 * @param number the site's number
 * @param name who allocates
 * @param library the library that asked for the memory
 * @param frames the stack, innermost first
 * @param liveBytesBefore bytes in use at the first moment, estimated
 * @param liveBytesAfter bytes in use at the second
 * @param liveObjectsBefore objects in use at the first moment, estimated
 * @param liveObjectsAfter objects in use at the second
 * @param allocatedBytes bytes allocated in between, estimated
 * @param allocatedObjects objects allocated in between, estimated
 */
public record SiteChange(
    int number,
    String name,
    String library,
    List<StackFrame> frames,
    double liveBytesBefore,
    double liveBytesAfter,
    double liveObjectsBefore,
    double liveObjectsAfter,
    double allocatedBytes,
    double allocatedObjects) {

  /** Order by growth of the live bytes, unknown growth last. */
  public static final Comparator<SiteChange> MOST_GROWTH_FIRST =
      mostFirst(SiteChange::liveBytesGrowth);

  /** Order by growth of the live objects, unknown growth last. */
  public static final Comparator<SiteChange> MOST_OBJECTS_FIRST =
      mostFirst(SiteChange::liveObjectsGrowth);

  /** Order by the bytes allocated in between, unknown figures last. */
  public static final Comparator<SiteChange> MOST_ALLOCATED_FIRST =
      mostFirst(SiteChange::allocatedBytes);

  public SiteChange {
    frames = List.copyOf(frames);
  }

  /** Returns the growth of the live bytes; negative if they shrank. */
  public double liveBytesGrowth() {
    return liveBytesAfter - liveBytesBefore;
  }

  /** Returns the growth of the live objects; negative if they shrank. */
  public double liveObjectsGrowth() {
    return liveObjectsAfter - liveObjectsBefore;
  }

  /** Returns the part of the process that the call site belongs to. */
  public Owner owner() {
    return Owner.of(name, frames);
  }

  /** Returns whether name, library or any frame contains a text. Ignores case. */
  public boolean mentions(String text) {
    return CallSite.mentions(text, name, library, frames);
  }

  private static Comparator<SiteChange> mostFirst(ToDoubleFunction<SiteChange> figure) {
    return Comparator.comparingDouble(
        change -> {
          double value = figure.applyAsDouble(change);
          return Double.isNaN(value) ? Double.POSITIVE_INFINITY : -value;
        });
  }

  /** Returns whether any figure differs or is unknown. */
  public boolean moved() {
    return liveBytesGrowth() != 0 || liveObjectsGrowth() != 0 || allocatedBytes != 0;
  }
}
