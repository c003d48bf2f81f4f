package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;

import io.mallometer.internal.text.HumanText;

/**
 * The memory that was live when mallometer attached to the process. {@link
 * NativeCounters#liveBytes()} includes it until it is freed.
 */
public record Baseline(
    @Figure(
            value =
                "Native memory that was live when mallometer attached, part of live memory until it is freed; unknown if it could not be determined",
            unit = BYTES,
            meter = "native.malloc.baseline",
            attribute = "BaselineBytes")
        double bytes,
    @Figure(
            value =
                "How many bytes more or less that may have been; where bytes is unknown, the "
                    + "most that may have been live",
            unit = BYTES)
        double errorBytes) {

  /** The baseline of a process that was counted from its start: no memory. */
  public static final Baseline NONE = new Baseline(0, 0);

  /**
   * Returns whether the number of bytes that were live at the attach is known. If that number is
   * unknown, the present live bytes are unknown too.
   */
  public boolean known() {
    return !Double.isNaN(bytes);
  }

  /** Returns the most bytes that may have been live at the attach. */
  public double mostBytes() {
    return known() ? bytes + errorBytes : errorBytes;
  }

  /**
   * Returns the memory in words, such as {@code 84.1 MiB ± 300 KiB were allocated before the
   * attach}.
   */
  @Figure("The same in words")
  public String sentence() {
    String error = HumanText.bytes(errorBytes);
    return known()
        ? HumanText.bytes(bytes) + " ± " + error + " were allocated before the attach"
        : "the memory allocated before the attach is unknown, at most " + error;
  }

  /**
   * Compares all components. Without this method, the JDK would generate a class at run time to
   * compare them.
   */
  @Override
  public boolean equals(Object other) {
    return other instanceof Baseline that
        && Double.compare(bytes, that.bytes) == 0
        && Double.compare(errorBytes, that.errorBytes) == 0;
  }

  @Override
  public int hashCode() {
    return 31 * Double.hashCode(bytes) + Double.hashCode(errorBytes);
  }
}
