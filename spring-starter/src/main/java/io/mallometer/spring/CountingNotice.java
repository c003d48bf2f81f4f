package io.mallometer.spring;

import io.mallometer.internal.library.load.BundledLibrary;
import io.mallometer.model.Baseline;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.SelfReport;
import io.mallometer.model.Snapshot;
import io.mallometer.model.Status;
import io.mallometer.spring.ApplicationSettings.AttachSetting;
import java.io.IOException;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Logs one line that says since when native memory is counted, or why it is not counted. A process
 * logs the line once, although each of its application contexts calls this class.
 */
final class CountingNotice {

  private static final Log logger = LogFactory.getLog(CountingNotice.class);

  /** The part of the latest logged line that is the same for all application contexts. */
  private static final AtomicReference<String> latest = new AtomicReference<>("");

  private CountingNotice() {}

  static void log(Snapshot snapshot, String page) {
    if (snapshot.status().active()) {
      logOnce(counted(snapshot, ""), () -> attached(snapshot, page, preload()));
    } else {
      logOnce(refused(snapshot.status()));
    }
  }

  /** Logs that native memory was counted already: the library was preloaded or attached before. */
  static void logCounted(Snapshot snapshot, String page) {
    logOnce(counted(snapshot, ""), () -> counted(snapshot, page));
  }

  static void logOff(Status status, AttachSetting setting) {
    logOnce(off(status, setting));
  }

  static void logFailure(Throwable failure) {
    logOnce(notCounted("the attach failed: " + failure, ""));
  }

  private static void logOnce(String line) {
    logOnce(line, () -> line);
  }

  /**
   * Logs a line unless {@code what} is the same as at the latest call.
   *
   * @param what the part of the line that all application contexts have in common
   * @param line the whole line, which may contain the address of this context's page
   */
  private static void logOnce(String what, Supplier<String> line) {
    if (!what.equals(latest.getAndSet(what))) {
      logger.info(line.get());
    }
  }

  /**
   * Returns the line to log after an attach.
   *
   * @param page the address of mallometer's web page; empty if there is none
   * @param preload the setting that preloads the library; empty if the library cannot be unpacked
   */
  static String attached(Snapshot snapshot, String page, String preload) {
    StringBuilder line = new StringBuilder(counted(snapshot, page)).append("; ");
    line.append(snapshot.process().map(NativeCounters::baseline).orElse(Baseline.NONE).sentence());
    snapshot
        .self()
        .attachment()
        .filter(attachment -> !attachment.complete())
        .ifPresent(attachment -> line.append(". Incomplete: ").append(attachment.gaps()));
    return (preload.isEmpty()
            ? line
            : line.append(". To count from the first instruction: ").append(preload))
        .toString();
  }

  static String counted(Snapshot snapshot, String page) {
    SelfReport self = snapshot.self();
    String since =
        self.since().map(from -> " since " + from.truncatedTo(ChronoUnit.SECONDS)).orElse("");
    return "Native memory is counted"
        + since
        + " ("
        + self.mode()
        + ")"
        + (page.isEmpty() ? "" : "; page at " + page);
  }

  private static String preload() {
    try {
      return "LD_PRELOAD=" + BundledLibrary.extract();
    } catch (IOException | RuntimeException e) {
      return "";
    }
  }

  static String refused(Status status) {
    return notCounted(status.reason(), status.remedy());
  }

  /**
   * Returns the line to log if a setting prevents the attach. The line recommends a preload only if
   * the remedy in {@code status} contains {@code LD_PRELOAD}.
   */
  static String off(Status status, AttachSetting setting) {
    int preload = status.remedy().indexOf("LD_PRELOAD=");
    return preload >= 0
        ? notCounted(
            setting.origin() + ", and " + status.reason(),
            "Set it to auto, or preload the library: " + status.remedy().substring(preload))
        : refused(status);
  }

  private static String notCounted(String reason, String remedy) {
    return "Native memory is not counted: "
        + reason
        + (remedy.isEmpty() ? "" : ". What to do: " + remedy);
  }
}
