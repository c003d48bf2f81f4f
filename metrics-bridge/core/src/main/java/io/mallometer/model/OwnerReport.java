package io.mallometer.model;

import java.time.Instant;
import java.util.List;
import java.util.Locale;

/**
 * Which Java objects hold the sampled native memory of a call site, or why that was not looked at.
 *
 * @param outcome whether it was looked at
 * @param explanation one sentence: the answer, or why there is none and what to do
 * @param time when the search ended
 * @param site the call site's number
 * @param samples how many live samples of it were looked for and are still live; 0 if none
 * @param pauses how long the program stood still for each walk, in seconds
 * @param estimatedPauseSeconds how long the first pause was estimated to be, or for a refusal the
 *     one that was refused; {@code NaN} if it was not estimated
 * @param ways how samples are held, firmest first, most samples first; of each way at least two
 *     samples and 30 % of all. A sample can be held in several ways
 * @param remarks what limits the answer, each one sentence
 */
public record OwnerReport(
    Outcome outcome,
    String explanation,
    Instant time,
    int site,
    int samples,
    List<Double> pauses,
    double estimatedPauseSeconds,
    List<Way> ways,
    List<String> remarks) {

  /** Whether the heap was searched. */
  public enum Outcome {
    /** It was. */
    DONE,
    /** Not now: too long a pause, too little memory, or another search is running. */
    REFUSED,
    /** This process cannot. */
    UNSUPPORTED
  }

  /**
   * What a search would do now.
   *
   * @param pauseSeconds for how long its first walk would stop the program, estimated
   * @param refusal why it would be refused; empty if it would not
   */
  public record Outlook(double pauseSeconds, String refusal) {}

  /**
   * How firmly Java objects hold native memory, firmest first. Each is only said as far as the
   * search has looked: {@link #HELD} where nobody asked what keeps the holder.
   */
  public enum Holding implements Tagged {
    /** A path of strong references leads to a static field, a thread, or a JNI global reference. */
    KEPT("kept"),
    /** Only a local variable of a thread keeps it, as far as was looked. */
    LOCAL_VARIABLE("in a local variable of a thread"),
    /** A Java object holds the address; what keeps that object was not looked at. */
    HELD("held"),
    /** Something keeps the holder, over more links than were looked at. */
    DEEPER("kept by something deeper than was looked"),
    /** Only soft references lead there: the next shortage of heap frees it. */
    SOFTLY("softly kept"),
    /** Only weak references lead there: a collection frees it. */
    WEAKLY("weakly kept"),
    /** The owner is garbage that no collection has found yet: only a cleaner knows the address. */
    GARBAGE("the owner is garbage that no collection has found yet"),
    /** Only garbage has the address, and nothing that would free the memory with it. */
    UNREACHABLE("only garbage has the address, and nothing frees it"),
    /** No Java long is the address. */
    NOBODY("no Java long holds it");

    private final String words;

    Holding(String words) {
      this.words = words;
    }

    /** What is said of it in sentences. */
    public String words() {
      return words;
    }

    /** The name in JSON: {@code local-variable}, for example. */
    @Override
    public String tag() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /**
   * A field that has addresses of samples.
   *
   * @param holding the firmest way in which the holders looked at are held
   * @param holder class and field, such as {@code DirectByteBuffer.address}; empty for {@link
   *     Holding#NOBODY}
   * @param samples how many samples are held so
   * @param share that as a share of all samples, 0 to 1
   * @param shareLow the lower end of its 95 % interval
   * @param shareHigh its upper end
   * @param throughNative whether the address leads to the samples through native memory: a hint, as
   *     the memory was read while the program ran
   * @param paths what keeps the holders, as far as it was looked at; most frequent first
   */
  public record Way(
      Holding holding,
      String holder,
      int samples,
      double share,
      double shareLow,
      double shareHigh,
      boolean throughNative,
      List<Path> paths) {

    public Way {
      paths = List.copyOf(paths);
    }
  }

  /**
   * A path from a holder to what keeps it, containers folded.
   *
   * @param holding how firm it is
   * @param text such as {@code Deflater.zsRef <- ArrayList <- static ReportCache.open}; as far as
   *     it is known if something deeper keeps the holder
   * @param holders of so many of the holders that were looked at
   */
  public record Path(Holding holding, String text, int holders) {}

  public OwnerReport {
    pauses = List.copyOf(pauses);
    ways = List.copyOf(ways);
    remarks = List.copyOf(remarks);
  }

  /** No answer, and why. */
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
