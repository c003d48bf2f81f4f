package io.mallometer;

import java.util.List;

/**
 * Code that allocates, told apart by its whole stack.
 *
 * @param number the site's number, which it keeps while the process lives
 * @param frames the stack, innermost first: native frames, then Java frames
 * @param name who allocates, by the rule of {@code SiteNaming}: {@code Class.method}, or {@code
 *     library!symbol}; many stacks may share it
 * @param library the library that asked for the memory: of the innermost native frame outside of
 *     the C and C++ libraries, else of the innermost frame; empty if unknown
 * @param samples how many allocations were looked at
 * @param allocatedObjects objects allocated since the process started
 * @param allocatedBytes their bytes, in the unit of {@link SelfReport#byteUnit()}
 * @param liveObjects those of them that have not been freed
 * @param liveBytes their bytes
 * @param bytesPerSecond bytes allocated for each second between the last two readings; {@code NaN}
 *     at the first
 * @param ages how old the live objects are
 */
public record CallSite(
    int number,
    List<StackFrame> frames,
    String name,
    String library,
    long samples,
    Estimate allocatedObjects,
    Estimate allocatedBytes,
    Estimate liveObjects,
    Estimate liveBytes,
    double bytesPerSecond,
    Ages ages) {

  /**
   * Quantiles of the ages of live sampled objects, each weighted with the bytes that it stands for,
   * in seconds; {@code NaN} if there are none.
   */
  public record Ages(double median, double ninetyPercent, double oldest) {

    /** Of no objects. */
    public static final Ages UNKNOWN = new Ages(Double.NaN, Double.NaN, Double.NaN);
  }

  public CallSite {
    frames = List.copyOf(frames);
  }

  /** The innermost Java frame's {@code Class.method}, else the innermost function. */
  public String topFrame() {
    return frames.stream()
        .filter(frame -> frame.kind() == StackFrame.Kind.JAVA)
        .findFirst()
        .or(() -> frames.stream().findFirst())
        .map(StackFrame::function)
        .orElse("[unknown]");
  }
}
