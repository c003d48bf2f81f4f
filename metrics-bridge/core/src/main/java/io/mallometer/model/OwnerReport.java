package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.COUNT;
import static io.mallometer.model.Figure.Unit.RATIO;
import static io.mallometer.model.Figure.Unit.SECONDS;

import java.time.Instant;
import java.util.List;
import java.util.Locale;

/**
 * The Java objects that hold the sampled native memory of a call site, or the reason why there was
 * no search.
 */
public record OwnerReport(
    @Figure("Whether the heap was searched") Outcome outcome,
    @Figure("One sentence: the answer, or why there is none and what to do") String explanation,
    @Figure("When the search ended") Instant time,
    @Figure("The call site's number") int site,
    @Figure(
            value =
                "How many live samples of the call site were searched for and are still live; 0 if none",
            unit = COUNT)
        int samples,
    @Figure(value = "How long the program stood still for each walk, in seconds", unit = SECONDS)
        List<Double> pauses,
    @Figure(
            value =
                "The estimate of the first pause, or of the pause that was refused; unknown if it was not estimated",
            unit = SECONDS)
        double estimatedPauseSeconds,
    @Figure(
            "How samples are held, firmest first, most samples first; of each way at "
                + "least two samples and 30 % of all. A sample can be held in several ways")
        List<Way> ways,
    @Figure("What limits the answer, each one sentence") List<String> remarks) {

  /** The outcome of a request to search the heap. */
  public enum Outcome {
    /** The heap was searched. */
    DONE,
    /**
     * A search is not possible now: the pause would be too long, memory is too scarce, or another
     * search runs.
     */
    REFUSED,
    /** This process cannot search its heap. */
    UNSUPPORTED
  }

  /** The forecast of a search. */
  public record Outlook(
      @Figure(
              value = "How long the first walk of a search would stop the program, estimated",
              unit = SECONDS)
          double pauseSeconds,
      @Figure("Why a search would be refused; empty if it would not") String refusal) {}

  /**
   * The ways in which Java objects hold native memory, strongest first. {@link #HELD} is also the
   * result of a search that did not follow references.
   */
  public enum Holding implements Tagged {
    /**
     * Strong references lead from a static field, a thread or a JNI global reference to the Java
     * object that contains the address of the native memory.
     */
    KEPT("kept"),
    /**
     * A local variable of a thread keeps alive the Java object that contains the address of the
     * native memory. The search found no stronger reference.
     */
    LOCAL_VARIABLE("in a local variable of a thread"),
    /**
     * A Java object contains the address of the native memory. The search did not determine what
     * keeps this object alive.
     */
    HELD("held"),
    /**
     * A chain of references keeps alive the Java object that contains the address of the native
     * memory. The search ended before it reached the end of the chain.
     */
    DEEPER("kept by something deeper than was looked"),
    /**
     * The Java object that contains the address of the native memory is reached by soft references
     * only, so the collector frees the object when heap is scarce.
     */
    SOFTLY("softly kept"),
    /**
     * The Java object that contains the address of the native memory is reached by weak references
     * only, so a garbage collection frees the object.
     */
    WEAKLY("weakly kept"),
    /**
     * The address is only in a cleaner. The object that owns the memory is garbage that no
     * collection has found yet.
     */
    GARBAGE("the owner is garbage that no collection has found yet"),
    /** The address is in garbage only, and no cleaner frees the memory. */
    UNREACHABLE("only garbage has the address, and nothing frees it"),
    /** No Java {@code long} has the address as its value. */
    NOBODY("no Java long holds it");

    private final String words;

    Holding(String words) {
      this.words = words;
    }

    /** Returns the holding in words, such as {@code weakly kept}. */
    public String words() {
      return words;
    }

    /** Returns the name in JSON, such as {@code local-variable}. */
    @Override
    public String tag() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /** A Java field that contains addresses of sampled native objects. */
  public record Way(
      @Figure("The firmest way in which the holders looked at are held") Holding holding,
      @Figure("Class and field, such as DirectByteBuffer.address; empty for nobody") String holder,
      @Figure(value = "How many samples are held in this way", unit = COUNT) int samples,
      @Figure(value = "These samples as a share of all, 0 to 1", unit = RATIO) double share,
      @Figure(value = "The lower end of the 95 % interval of share", unit = RATIO) double shareLow,
      @Figure(value = "Its upper end", unit = RATIO) double shareHigh,
      @Figure(
              "Whether the address leads to the samples through native memory: a hint, as "
                  + "the memory was read while the program ran")
          boolean throughNative,
      @Figure("What keeps the holders, as far as links were followed; most frequent first")
          List<Path> paths) {

    public Way {
      paths = List.copyOf(paths);
    }

    @Figure("How they are held, in words")
    public String words() {
      return holding.words();
    }
  }

  /**
   * A path of references that keeps a Java object alive. The object contains addresses of sampled
   * native objects. The path begins at the object and leads toward a root. Containers on the path
   * are shown as one element.
   */
  public record Path(
      @Figure("How firm it is") Holding holding,
      @Figure(
              "The path, such as Deflater.zsRef <- ArrayList <- static ReportCache.open; as far as it is known if something deeper keeps the holder")
          String text,
      @Figure(
              value = "How many of the holders this path keeps, of those that were looked at",
              unit = COUNT)
          int holders) {

    @Figure("How firm it is, in words")
    public String words() {
      return holding.words();
    }
  }

  public OwnerReport {
    pauses = List.copyOf(pauses);
    ways = List.copyOf(ways);
    remarks = List.copyOf(remarks);
  }

  /** Returns a report without an answer, with the reason. */
  public static OwnerReport none(
      Outcome outcome, String explanation, Instant time, int site, double estimatedPauseSeconds) {
    return new OwnerReport(
        outcome,
        explanation,
        time,
        site,
        0,
        List.of(),
        estimatedPauseSeconds,
        List.of(),
        List.of());
  }
}
