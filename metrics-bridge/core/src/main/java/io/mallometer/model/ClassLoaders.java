package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.COUNT;
import static io.mallometer.model.Figure.Unit.SECONDS;

import io.mallometer.internal.text.HumanText;
import java.time.Instant;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The metadata of classes by class loader, read at one safepoint of the JVM. {@code definer} is the
 * method and line that allocates the most memory by defining or redefining classes.
 */
public record ClassLoaders(
    @Figure("When the loaders were read, or the reading was refused") Instant time,
    @Figure(
            value = "How long the reader waited for the safepoint; unknown if nothing was read",
            unit = SECONDS)
        double seconds,
    @Figure("The classes of loaders with most metadata, most first; at most 20") List<Kind> kinds,
    @Figure(
            "The method and line for whose classes the JVM allocates most bytes a second; empty "
                + "without call sites")
        String definer,
    @Figure("Why nothing was read; empty if it was") String reason) {

  /** The largest number of {@link Kind kinds} that are listed. */
  public static final int MOST_KINDS = 20;

  private static final int MOST_NAMED = 3;

  private static final int MANY_LOADERS = 20;

  /** The class loaders that are instances of one class. */
  public record Kind(
      @Figure("The class of the loaders, or boot class loader") String loader,
      @Figure(value = "Loaders of this class", unit = COUNT) int loaders,
      @Figure(value = "Classes that they defined, hidden classes included", unit = COUNT)
          int classes,
      @Figure(value = "Metadata of these classes", unit = BYTES) long metadataBytes) {

    /**
     * Returns whether there are many loaders with about one class each. Scripts and generated
     * classes cause this.
     */
    @Figure("Whether there are many loaders with hardly more than a class each")
    public boolean oneClassEach() {
      return loaders >= MANY_LOADERS && classes < 2 * loaders;
    }

    /** Returns the kind in words, such as {@code 10,000 classes of 2 PluginLoader (61 MiB)}. */
    @Override
    public String toString() {
      return "%,d classes of %s%s (%s%s)"
          .formatted(
              classes,
              loaders == 1 ? "" : "%,d ".formatted(loaders),
              loader,
              HumanText.bytes(metadataBytes),
              oneClassEach() ? ", a loader for each class" : "");
    }
  }

  public ClassLoaders {
    kinds = List.copyOf(kinds);
  }

  /**
   * Returns a sentence with the largest {@link #kinds}, or with the reason why nothing was read.
   */
  @Figure("The largest kinds, or the reason, in one sentence")
  public String sentence() {
    String end = definer.isEmpty() ? "." : "; %s defines most.".formatted(definer);
    return kinds.isEmpty()
        ? "Class loaders were not read: %s%s".formatted(reason, end)
        : kinds.stream()
            .limit(MOST_NAMED)
            .map(Kind::toString)
            .collect(Collectors.joining(", ", "Class metadata: ", end));
  }
}
