package io.mallometer.view;

import io.mallometer.model.OwnerReport;
import java.time.Instant;
import java.util.List;

/**
 * What a POST to {@code nativememory/owners/NUMBER} answers. Unknown numbers are {@code NaN}.
 *
 * @param outcome {@code DONE}, {@code REFUSED} or {@code UNSUPPORTED}
 * @param explanation the answer in one sentence, or why there is none
 * @param time when the search ended, in ISO 8601
 * @param site the call site's number
 * @param samples live samples that were looked for
 * @param pauseSeconds for how long each walk stopped the program
 * @param estimatedPauseSeconds what was estimated for the first
 * @param ways how the samples are held, firmest first
 * @param remarks what limits the answer
 */
public record OwnerReportView(
    String outcome,
    String explanation,
    Instant time,
    int site,
    int samples,
    List<Double> pauseSeconds,
    double estimatedPauseSeconds,
    List<Way> ways,
    List<String> remarks)
    implements View {

  /**
   * A field that has addresses of samples.
   *
   * @param holding {@code kept}, {@code local-variable}, {@code held}, {@code deeper}, {@code
   *     softly}, {@code weakly}, {@code garbage} or {@code nobody}
   * @param words the same in words
   * @param holder class and field; empty for {@code nobody}
   * @param samples how many samples are held so
   * @param share that as a share of all, 0 to 1
   * @param shareLow the lower end of its 95 % interval
   * @param shareHigh its upper end
   * @param throughNative whether the way leads through native memory
   * @param paths what keeps the holders
   */
  public record Way(
      String holding,
      String words,
      String holder,
      int samples,
      double share,
      double shareLow,
      double shareHigh,
      boolean throughNative,
      List<Path> paths) {}

  /**
   * What keeps holders.
   *
   * @param holding as of a way
   * @param words the same in words
   * @param text the path, from the holder outwards; empty if none is known
   * @param holders of so many of the holders that were looked at
   */
  public record Path(String holding, String words, String text, int holders) {}

  static OwnerReportView of(OwnerReport report) {
    return new OwnerReportView(
        report.outcome().name(),
        report.explanation(),
        report.time(),
        report.site(),
        report.samples(),
        report.pauses(),
        report.estimatedPauseSeconds(),
        report.ways().stream().map(OwnerReportView::way).toList(),
        report.remarks());
  }

  private static Way way(OwnerReport.Way way) {
    return new Way(
        way.holding().tag(),
        way.holding().words(),
        way.holder(),
        way.samples(),
        way.share(),
        way.shareLow(),
        way.shareHigh(),
        way.throughNative(),
        way.paths().stream()
            .map(
                path ->
                    new Path(
                        path.holding().tag(), path.holding().words(), path.text(), path.holders()))
            .toList());
  }
}
