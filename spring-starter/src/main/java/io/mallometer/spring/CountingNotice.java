package io.mallometer.spring;

import io.mallometer.internal.interposer.BundledLibrary;
import io.mallometer.model.Baseline;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.SelfReport;
import io.mallometer.model.Snapshot;
import io.mallometer.model.Status;
import java.io.IOException;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The one line that an application logs about counting: since when native memory is counted, where
 * the page is and what is not in the figures, or why it is not counted and what to do. Once in a
 * JVM, however many contexts it has.
 */
final class CountingNotice {

  private static final Log logger = LogFactory.getLog(CountingNotice.class);

  /** What holds for each context of the process is said once. */
  private static final AtomicReference<String> latest = new AtomicReference<>("");

  private CountingNotice() {}

  /**
   * Says what came of an attach.
   *
   * @param page the address of the page; empty without one
   */
  static void log(Snapshot snapshot, String page) {
    if (snapshot.status().active()) {
      logOnce(counted(snapshot, ""), () -> attached(snapshot, page, preload()));
    } else {
      logOnce(refused(snapshot.status()));
    }
  }

  /** Says that what was started with the library, or attached before, is counted. */
  static void logCounted(Snapshot snapshot, String page) {
    logOnce(counted(snapshot, ""), () -> counted(snapshot, page));
  }

  /** Says that nothing is counted since that is how it was set. */
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
   * Logs unless this was the latest that was logged.
   *
   * @param what is the same in each context
   * @param line the whole of it, with what each context has of its own
   */
  private static void logOnce(String what, Supplier<String> line) {
    if (!what.equals(latest.getAndSet(what))) {
      logger.info(line.get());
    }
  }

  /**
   * Returns the line after an attach.
   *
   * @param page the address of the page; empty without one
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

  /** Since when and how, and where to look. */
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

  /** The line after an attach that was refused or is impossible. */
  static String refused(Status status) {
    return notCounted(status.reason(), status.remedy());
  }

  /** The line where nothing was tried. Only what could be preloaded can be attached. */
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
