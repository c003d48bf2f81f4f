package io.mallometer;

import java.util.Comparator;
import java.util.List;

/**
 * What changed of a call site between two moments. What is not known of one of them is {@code NaN}:
 * of more than 4,096 sites only the largest are kept.
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
    double allocatedBytes) {

  /** By growth of the live bytes; what is unknown comes last. */
  public static final Comparator<SiteChange> MOST_GROWTH_FIRST =
      Comparator.comparingDouble(
          change -> {
            double growth = change.liveBytesGrowth();
            return Double.isNaN(growth) ? Double.POSITIVE_INFINITY : -growth;
          });

  public SiteChange {
    frames = List.copyOf(frames);
  }

  /** By how much the bytes in use grew; negative if they shrank. */
  public double liveBytesGrowth() {
    return liveBytesAfter - liveBytesBefore;
  }

  /** By how much the objects in use grew; negative if they shrank. */
  public double liveObjectsGrowth() {
    return liveObjectsAfter - liveObjectsBefore;
  }

  /** Whether anything is different, or unknown. */
  public boolean moved() {
    return liveBytesGrowth() != 0 || liveObjectsGrowth() != 0 || allocatedBytes != 0;
  }
}
