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
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The one line that an application logs about counting: since when native memory is counted and
 * what is not in the figures, or why it is not counted and what to do. An application that was
 * started with the library logs nothing, unless it did that itself.
 */
final class CountingNotice {

  private static final Log logger = LogFactory.getLog(CountingNotice.class);

  /** What holds for each context of the process is said once. */
  private static final AtomicReference<String> latest = new AtomicReference<>("");

  private CountingNotice() {}

  /** Says what came of an attach. */
  static void log(Snapshot snapshot) {
    if (snapshot.status().active()) {
      logger.info(attached(snapshot, preload()));
    } else {
      logOnce(refused(snapshot.status()));
    }
  }

  /** Says that nothing is counted since that is how it was set. */
  static void logOff(Status status, AttachSetting setting) {
    logOnce(off(status, setting));
  }

  /** Says what came of a relaunch. */
  static void logRelaunched(Snapshot snapshot) {
    logOnce(counted(snapshot));
  }

  static void logFailure(Throwable failure) {
    logOnce(notCounted("the attach failed: " + failure, ""));
  }

  private static void logOnce(String line) {
    if (!line.equals(latest.getAndSet(line))) {
      logger.info(line);
    }
  }

  static void logNotRelaunched(String reason) {
    logger.warn(
        "The process is not relaunched with the library: " + reason + ". It attaches later");
  }

  /**
   * The line after an attach.
   *
   * @param preload how to preload the library, to be written behind the property
   */
  static String attached(Snapshot snapshot, String preload) {
    StringBuilder line = new StringBuilder(counted(snapshot)).append("; ");
    line.append(snapshot.process().map(NativeCounters::baseline).orElse(Baseline.NONE).sentence());
    snapshot
        .self()
        .attachment()
        .filter(attachment -> !attachment.complete())
        .ifPresent(attachment -> line.append(". Incomplete: ").append(attachment.gaps()));
    return line.append(". To count from the first instruction: ")
        .append(AttachSetting.PROPERTY)
        .append("=relaunch")
        .append(preload)
        .toString();
  }

  /** Since when and how. */
  static String counted(Snapshot snapshot) {
    SelfReport self = snapshot.self();
    String since =
        self.since().map(from -> " since " + from.truncatedTo(ChronoUnit.SECONDS)).orElse("");
    return "Native memory is counted" + since + " (" + self.mode() + ")";
  }

  private static String preload() {
    try {
      return ", or LD_PRELOAD=" + BundledLibrary.extract();
    } catch (IOException | RuntimeException e) {
      return "";
    }
  }

  /** The line after an attach that was refused, or where nobody can attach. */
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
