package io.mallometer.model;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Code that allocates, identified by its whole stack.
 *
 * @param number the site's number, which it keeps while the process lives
 * @param frames the stack, innermost first: native frames, then Java frames
 * @param name who allocates, by the rule of {@code SiteNaming}: {@code Class.method}, or {@code
 *     library!symbol}; many stacks may share it
 * @param library the library that asked for the memory: of the innermost native frame outside of
 *     the C and C++ libraries, else of the innermost frame; {@code [java]} if that is Java's; empty
 *     if unknown
 * @param samples how many allocations were looked at
 * @param allocatedObjects objects allocated since the process started
 * @param allocatedBytes their bytes, in the unit of {@link SelfReport#byteUnit()}
 * @param liveObjects those of them that have not been freed
 * @param liveBytes their bytes
 * @param bytesPerSecond bytes allocated for each second, over the shortest of 30 s, 1, 2, 5, 10, 30
 *     and 60 minutes in which 30 samples were taken, else over the longest that is known; {@code
 *     NaN} at the first reading
 * @param rateSeconds how long ago that time began; {@code NaN} where the rate is unknown
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
    double rateSeconds,
    Ages ages)
    implements SiteFigures {

  /**
   * Returns quantiles of the ages of live sampled objects, each weighted with the bytes that it
   * stands for, in seconds; {@code NaN} if there are none.
   */
  public record Ages(double median, double ninetyPercent, double oldest) {

    /** Figures of no objects. */
    public static final Ages UNKNOWN = new Ages(Double.NaN, Double.NaN, Double.NaN);
  }

  public CallSite {
    frames = List.copyOf(frames);
  }

  /** Returns this site with a rate over a time. */
  public CallSite withRate(double bytesPerSecond, double seconds) {
    return new CallSite(
        number,
        frames,
        name,
        library,
        samples,
        allocatedObjects,
        allocatedBytes,
        liveObjects,
        liveBytes,
        bytesPerSecond,
        seconds,
        ages);
  }

  /** Returns whether the name, the library or any frame contains a text. Ignores case. */
  public boolean mentions(String text) {
    return mentions(text, name, library, frames);
  }

  static boolean mentions(String text, String name, String library, List<StackFrame> frames) {
    String wanted = text.toLowerCase(Locale.ROOT);
    return Stream.concat(Stream.of(name, library), frames.stream().map(StackFrame::toString))
        .anyMatch(words -> words.toLowerCase(Locale.ROOT).contains(wanted));
  }

  /** Returns the part of the process that the call site belongs to. */
  public Owner owner() {
    return Owner.of(name, frames);
  }

  /** The innermost Java frame's {@code Class.method}, else the innermost function. */
  public String topFrame() {
    return top().map(StackFrame::function).orElse(Grouping.UNKNOWN);
  }

  /**
   * The package of the innermost Java frame, or the class where that has none; else the library of
   * the innermost function. Empty if unknown.
   */
  public String topPackage() {
    return top().map(CallSite::packageOf).orElse("");
  }

  private Optional<StackFrame> top() {
    return frames.stream()
        .filter(frame -> frame.kind() == StackFrame.Kind.JAVA && !frame.isOfCall())
        .findFirst()
        .or(() -> frames.stream().findFirst());
  }

  private static String packageOf(StackFrame frame) {
    int dot = frame.kind() == StackFrame.Kind.JAVA ? packageEnd(frame.owner()) : -1;
    return dot < 0 ? frame.owner() : frame.owner().substring(0, dot);
  }

  /** The names of hidden classes go on after a slash, where a dot may follow. */
  private static int packageEnd(String className) {
    int slash = className.indexOf('/');
    return className.lastIndexOf('.', slash < 0 ? className.length() : slash);
  }
}
