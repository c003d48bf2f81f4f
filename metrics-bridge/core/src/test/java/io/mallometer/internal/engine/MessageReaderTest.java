package io.mallometer.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.SilentLibrary;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.Diagnosis.Finding;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.PreviousRun;
import io.mallometer.model.Setting;
import io.mallometer.model.Snapshot;
import io.mallometer.model.Status;
import io.mallometer.model.TerminationMessage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests which events begin and end a termination message, and the sentence in the message. */
@Tag("any-jdk")
class MessageReaderTest {

  private static final PreviousRun KILLED =
      new PreviousRun(
          "/record/recording.previous",
          7,
          Instant.EPOCH,
          Instant.EPOCH,
          PreviousRun.OOM,
          true,
          "The previous run was OOM-killed at 14:02:07 UTC; in the last 0.3 s Buffers.grab allocated"
              + " 223 MiB on http-8; Cart.zip had grown",
          "");

  /**
   * Records the calls. The library can write a termination message only while {@link #counts} is
   * true.
   */
  private final class Library extends SilentLibrary {

    Library() {
      super(Status.counting());
    }

    @Override
    public boolean beginMessage(String path) {
      calls.add("begin " + path);
      beginning.run();
      return counts;
    }

    @Override
    public void prepareMessage(String sentence) {
      calls.add(sentence);
    }

    @Override
    public void endMessage() {
      calls.add("end");
    }

    @Override
    public TerminationMessage message() {
      return new TerminationMessage(counts, counts ? "/message" : "", "");
    }
  }

  private final List<String> calls = Collections.synchronizedList(new ArrayList<>());
  private boolean counts = true;
  private Runnable beginning = () -> {};
  private final MessageReader reader = new MessageReader(new Library());

  private static Diagnosis diagnosis(Diagnosis.State state, String sentence, Finding... findings) {
    return new Diagnosis(
        state,
        Instant.EPOCH,
        sentence,
        sentence.contains("can be judged") ? List.of() : List.of("Save the evidence"),
        Diagnosis.Limit.NONE,
        Optional.of(KILLED),
        List.of(findings),
        Optional.empty(),
        Optional.empty(),
        List.of());
  }

  private void publish(Diagnosis diagnosis) {
    reader.published(Snapshot.absent(Instant.EPOCH, Status.counting()).with(diagnosis));
  }

  private static Optional<MallometerOptions> options(String path) {
    return Optional.of(MallometerOptions.defaults().with(Setting.TERMINATION_MESSAGE, path));
  }

  @Test
  void theMessageBeginsOnceAndHasEachDiagnosis() {
    reader.configure(Optional.of(MallometerOptions.defaults()));
    publish(diagnosis(Diagnosis.State.ACT, "Cart.zip leaks 3 MiB/h"));
    publish(diagnosis(Diagnosis.State.WATCH, "Memory grows 2 MiB/h"));

    assertThat(calls)
        .containsExactly(
            "begin /dev/termination-log", "Cart.zip leaks 3 MiB/h", "Memory grows 2 MiB/h");
    assertThat(reader.message().on()).isTrue();
  }

  @Test
  void aDiagnosisThatAsksForNothingIsNoSentence() {
    assertThat(MessageReader.sentence(diagnosis(Diagnosis.State.TOO_EARLY, "Too early to tell")))
        .isEmpty();
    assertThat(MessageReader.sentence(diagnosis(Diagnosis.State.HEALTHY, "Memory is stable")))
        .isEmpty();
  }

  /** The previous run's end does not explain why this run ends. */
  @Test
  void thePreviousRunIsNotInTheSentence() {
    Finding previous = new Finding("previous", Diagnosis.State.WATCH, KILLED.sentence());
    Finding healthy = new Finding("retained", Diagnosis.State.HEALTHY, "Malloc retains little");
    Finding limit = new Finding("limit", Diagnosis.State.WATCH, "Memory is at 91 %");
    String sentence = "The previous run was OOM-killed at 14:02:07 UTC; Cart.zip had grown";

    assertThat(
            MessageReader.sentence(
                diagnosis(Diagnosis.State.WATCH, sentence, previous, healthy, limit)))
        .isEqualTo("Memory is at 91 %");
    assertThat(MessageReader.sentence(diagnosis(Diagnosis.State.WATCH, sentence, previous)))
        .isEmpty();
    assertThat(MessageReader.sentence(diagnosis(Diagnosis.State.ACT, "Cart.zip leaks", previous)))
        .isEqualTo("Cart.zip leaks");
  }

  /**
   * {@code HeldDiagnosis} may keep an earlier state, such as {@code WATCH}, although the new
   * diagnosis is {@code TOO_EARLY}. The sentence of the held diagnosis then only says that it is
   * too early to judge. The message must not contain that sentence.
   */
  @Test
  void aHeldDiagnosisThatIsTooEarlyIsNoSentence() {
    Finding growth = new Finding("growth", Diagnosis.State.TOO_EARLY, "Growth of /proc/self/smaps");
    Finding limit = new Finding("limit", Diagnosis.State.WATCH, "Memory is at 91 %");
    String sentence = "Growth of /proc/self/smaps can be judged from 14:02";

    assertThat(MessageReader.sentence(diagnosis(Diagnosis.State.WATCH, sentence, growth)))
        .isEmpty();
    assertThat(MessageReader.sentence(diagnosis(Diagnosis.State.ACT, sentence, limit, growth)))
        .isEqualTo("Memory is at 91 %");
  }

  @Test
  void offAsksForNothing() {
    reader.configure(options("Off"));
    publish(diagnosis(Diagnosis.State.ACT, "Cart.zip leaks"));

    assertThat(calls).isEmpty();
    assertThat(reader.message()).isEqualTo(TerminationMessage.off("", "it is switched off"));
  }

  @Test
  void aLibraryThatIsAttachedLaterIsAskedAgain() {
    counts = false;
    reader.configure(options("/message"));
    publish(diagnosis(Diagnosis.State.ACT, "Cart.zip leaks"));
    assertThat(reader.message())
        .isEqualTo(
            TerminationMessage.off("/message", "the library does not count in this process"));

    counts = true;
    publish(diagnosis(Diagnosis.State.ACT, "Cart.zip leaks"));
    assertThat(calls).containsExactly("begin /message", "begin /message", "Cart.zip leaks");
  }

  @Test
  void aCheckpointEndsTheMessageUntilTheNextPoll() {
    reader.configure(options("/message"));
    reader.suspend();
    publish(diagnosis(Diagnosis.State.ACT, "Cart.zip leaks"));
    reader.suspend();
    publish(diagnosis(Diagnosis.State.ACT, "Cart.zip leaks"));
    reader.configure(options("off"));
    reader.end();

    assertThat(calls)
        .containsExactly(
            "begin /message", "Cart.zip leaks", "end", "begin /message", "Cart.zip leaks", "end");
  }

  /**
   * The checkpoint begins while the message is published. It waits for the end of the publication,
   * and then ends the message.
   */
  @Test
  void aCheckpointDuringThePublicationEndsTheMessage() throws InterruptedException {
    CountDownLatch begins = new CountDownLatch(1);
    reader.configure(options("/message"));
    Thread checkpoint =
        new Thread(
            () -> {
              awaits(begins);
              reader.suspend();
            });
    checkpoint.start();
    beginning =
        () -> {
          begins.countDown();
          while (checkpoint.getState() != Thread.State.BLOCKED && checkpoint.isAlive()) {
            Thread.onSpinWait();
          }
        };
    publish(diagnosis(Diagnosis.State.ACT, "Cart.zip leaks"));
    checkpoint.join();

    assertThat(calls).containsExactly("begin /message", "Cart.zip leaks", "end");
  }

  private static void awaits(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException interrupt) {
      throw new AssertionError(interrupt);
    }
  }
}
