package io.mallometer.internal.engine;

import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;
import io.mallometer.model.Snapshot;
import io.mallometer.model.TerminationMessage;
import java.util.Optional;

/**
 * Requests the termination message, and passes its text to the library, which decides when to write
 * it. Kubernetes shows the message after the container has ended. Thread-safe.
 */
public final class MessageReader implements SnapshotReader {

  private static final String OFF = "off";

  private final NativeLibrary library;
  private Optional<String> wanted = Optional.empty();

  private boolean asked;

  MessageReader(NativeLibrary library) {
    this.library = library;
  }

  public synchronized TerminationMessage message() {
    if (wanted.isEmpty()) {
      return TerminationMessage.off("", "it is switched off");
    }
    String path = wanted.get();
    TerminationMessage told = library.message();
    return asked || told.path().equals(path)
        ? told
        : TerminationMessage.off(path, "the library does not count in this process");
  }

  @Override
  public String failure() {
    return "The termination message cannot be prepared";
  }

  @Override
  public synchronized void configure(Optional<MallometerOptions> options) {
    Optional<String> path =
        options
            .map(chosen -> chosen.get(Setting.TERMINATION_MESSAGE))
            .filter(text -> !text.equalsIgnoreCase(OFF));
    if (!path.equals(wanted)) {
      suspend();
      wanted = path;
    }
  }

  @Override
  public synchronized void published(Snapshot snapshot) {
    wanted.ifPresent(
        path -> {
          asked = asked || library.beginMessage(path);
          if (asked) {
            library.prepareMessage(sentence(snapshot.diagnosis()));
          }
        });
  }

  /**
   * Returns the text for the termination message; empty unless the diagnosis is in the state WATCH
   * or ACT.
   *
   * <p>The text is normally the sentence of the diagnosis. If that sentence is about the previous
   * run, or the diagnosis has no actions, the text is the first finding on this run in the state
   * WATCH or ACT.
   */
  static String sentence(Diagnosis diagnosis) {
    if (diagnosis.state().compareTo(Diagnosis.State.WATCH) < 0) {
      return "";
    }
    String sentence = diagnosis.sentence();
    boolean isOther =
        diagnosis.actions().isEmpty()
            || diagnosis
                .previous()
                .filter(run -> sentence.startsWith(run.sentence().split("; ")[0]))
                .isPresent();
    return isOther
        ? diagnosis.findings().stream()
            .filter(finding -> !finding.topic().equals("previous"))
            .filter(finding -> finding.state().compareTo(Diagnosis.State.WATCH) >= 0)
            .findFirst()
            .map(Diagnosis.Finding::text)
            .orElse("")
        : sentence;
  }

  @Override
  public synchronized void suspend() {
    if (asked) {
      asked = false;
      library.endMessage();
    }
  }

  @Override
  public void end() {
    suspend();
  }
}
