package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.COUNT;

import java.util.Comparator;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * The change of a call site between two moments. A change is {@code NaN} if its figure is unknown
 * at one of the moments. A stored moment has at most 4,096 sites: those with most live or most
 * allocated bytes.
 */
public record SiteChange(
    @Figure("The site's number") int number,
    @Figure("Who allocates") String name,
    @Figure("The library that asked for the memory") String library,
    @Figure("The stack, innermost first") List<StackFrame> frames,
    @Figure(value = "What is in use", inline = true) Live live,
    @Figure(value = "Bytes allocated in between, estimated", unit = BYTES) double allocatedBytes,
    @Figure(value = "Objects allocated in between, estimated", unit = COUNT)
        double allocatedObjects) {

  /** The order by growth of the live bytes; unknown growth is last. */
  public static final Comparator<SiteChange> MOST_GROWTH_FIRST =
      mostFirst(SiteChange::liveBytesGrowth);

  /** The order by growth of the live objects; unknown growth is last. */
  public static final Comparator<SiteChange> MOST_OBJECTS_FIRST =
      mostFirst(SiteChange::liveObjectsGrowth);

  /** The order by the bytes allocated between the moments; unknown figures are last. */
  public static final Comparator<SiteChange> MOST_ALLOCATED_FIRST =
      mostFirst(SiteChange::allocatedBytes);

  /** The live memory at both moments. */
  public record Live(
      @Figure(value = "Bytes in use at the first moment, estimated", unit = BYTES)
          double liveBytesBefore,
      @Figure(value = "Bytes in use at the second moment", unit = BYTES) double liveBytesAfter,
      @Figure(value = "Objects in use at the first moment, estimated", unit = COUNT)
          double liveObjectsBefore,
      @Figure(value = "Objects in use at the second moment", unit = COUNT)
          double liveObjectsAfter) {}

  public SiteChange {
    frames = List.copyOf(frames);
  }

  /** Returns the growth of the live bytes. */
  @Figure(value = "By how much live bytes grew; negative if they shrank", unit = BYTES)
  public double liveBytesGrowth() {
    return live.liveBytesAfter() - live.liveBytesBefore();
  }

  /** Returns the growth of the live objects. */
  @Figure(value = "By how much live objects grew; negative if they shrank", unit = COUNT)
  public double liveObjectsGrowth() {
    return live.liveObjectsAfter() - live.liveObjectsBefore();
  }

  /** Returns the part of the process that the call site belongs to. */
  public CodeOwner codeOwner() {
    return CodeOwner.of(name, frames);
  }

  /** Returns whether the name, the library or a frame contains the text, ignoring case. */
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

  /** Returns whether any figure differs between the two moments, or is unknown. */
  public boolean moved() {
    return liveBytesGrowth() != 0 || liveObjectsGrowth() != 0 || allocatedBytes != 0;
  }
}
