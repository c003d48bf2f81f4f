package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.BYTES_PER_SECOND;
import static io.mallometer.model.Figure.Unit.COUNT;
import static io.mallometer.model.Figure.Unit.SECONDS;

import io.mallometer.internal.text.HumanText;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** A call site: code that allocates, identified by its whole stack. */
public record CallSite(
    @Figure("The site's number, which it keeps while the process lives") int number,
    @Figure("The stack, innermost first: native frames, then Java frames") List<StackFrame> frames,
    @Figure("The code that allocates: Class.method, or library!symbol; many stacks may share it")
        String name,
    @Figure(
            "The library that asked for the memory: of the innermost native frame outside "
                + "of the C and C++ libraries, else of the innermost frame; [java] if that is "
                + "Java's; empty if unknown")
        String library,
    @Figure(value = "How many allocations were looked at", unit = COUNT) long samples,
    @Figure(value = "Objects allocated since counting began", unit = COUNT)
        Estimate allocatedObjects,
    @Figure(value = "Bytes allocated since counting began", unit = BYTES) Estimate allocatedBytes,
    @Figure(value = "Live objects", unit = COUNT) Estimate liveObjects,
    @Figure(value = "Live bytes", unit = BYTES) Estimate liveBytes,
    @Figure(
            value = "Live bytes on pages that are in memory; unknown without /proc/self/pagemap",
            unit = BYTES)
        Estimate residentBytes,
    @Figure(
            value =
                "Bytes allocated for each second, over the shortest of 30 s, 1, 2, 5, 10, 30 "
                    + "and 60 minutes in which 30 samples were taken, else over the longest that is "
                    + "known; unknown at the first reading",
            unit = BYTES_PER_SECOND)
        double bytesPerSecond,
    @Figure(
            value =
                "The length of the time that bytesPerSecond covers; unknown where the rate is unknown",
            unit = SECONDS)
        double rateSeconds,
    @Figure("How old the live objects are") Ages ages)
    implements SiteFigures {

  /**
   * The ages of the live sampled objects of a site, weighted by the bytes that each sample
   * represents. {@code NaN} without live samples.
   */
  public record Ages(
      @Figure(value = "The age that half of the live bytes exceed", unit = SECONDS) double median,
      @Figure(value = "The age that a tenth of the live bytes exceeds", unit = SECONDS)
          double ninetyPercent,
      @Figure(value = "The age of the oldest live sample", unit = SECONDS) double oldest) {

    /** The ages of a site without live samples. */
    public static final Ages UNKNOWN = new Ages(Double.NaN, Double.NaN, Double.NaN);
  }

  public CallSite {
    frames = List.copyOf(frames);
  }

  /** Creates a site whose resident bytes are unknown. */
  public CallSite(
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
      Ages ages) {
    this(
        number,
        frames,
        name,
        library,
        samples,
        allocatedObjects,
        allocatedBytes,
        liveObjects,
        liveBytes,
        Estimate.UNKNOWN,
        bytesPerSecond,
        rateSeconds,
        ages);
  }

  /** Returns this site with an allocation rate, measured over a number of seconds. */
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
        residentBytes,
        bytesPerSecond,
        seconds,
        ages);
  }

  /** Returns the short name with the source line, such as {@code Shop.order (Shop.java:31)}. */
  public String line() {
    String place = StackFrame.place(frames, name);
    return HumanText.shortName(name) + (place.isEmpty() ? "" : " (" + place + ")");
  }

  /** Returns whether the name, the library or a frame contains a text, ignoring case. */
  public boolean mentions(String text) {
    return mentions(text, name, library, frames);
  }

  static boolean mentions(String text, String name, String library, List<StackFrame> frames) {
    String wanted = text.toLowerCase(Locale.ROOT);
    return Stream.concat(Stream.of(name, library), frames.stream().map(StackFrame::toString))
        .anyMatch(words -> words.toLowerCase(Locale.ROOT).contains(wanted));
  }

  /** Returns the part of the process that the call site belongs to. */
  public CodeOwner codeOwner() {
    return CodeOwner.of(name, frames);
  }

  /**
   * Returns the {@code Class.method} of the innermost Java frame; without one, the innermost
   * function.
   */
  public String topFrame() {
    return top().map(StackFrame::function).orElse(Grouping.UNKNOWN);
  }

  /**
   * Returns the package of the innermost Java frame, or the class if it has no package. Without a
   * Java frame, returns the library of the innermost frame. Empty if unknown.
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

  /**
   * Returns the index at which the package ends, or -1 if there is no package. The name of a hidden
   * class has a suffix after a slash, which is ignored.
   */
  private static int packageEnd(String className) {
    int slash = className.indexOf('/');
    return className.lastIndexOf('.', slash < 0 ? className.length() : slash);
  }
}
