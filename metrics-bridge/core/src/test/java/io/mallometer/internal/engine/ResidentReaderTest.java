package io.mallometer.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mallometer.FaceContract;
import io.mallometer.ScriptedLibrary;
import io.mallometer.internal.library.MappedRange;
import io.mallometer.internal.process.MemorySource;
import io.mallometer.model.CallSites;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.ResidentStacks;
import io.mallometer.model.Snapshot;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests which thread reads the resident set, how often, and what requests get during a reading. */
@Timeout(60)
class ResidentReaderTest {

  private static final class CountedMemory implements MemorySource {
    private int readings;
    private boolean fails;

    @Override
    public boolean present() {
      return true;
    }

    @Override
    public ProcessMemory read(
        Supplier<Snapshot> counted, OptionalLong statedLimit, Supplier<List<MappedRange>> ranges) {
      throw new UnsupportedOperationException();
    }

    @Override
    public OptionalLong residentBytes() {
      return OptionalLong.empty();
    }

    @Override
    public Optional<ResidentStacks> origins(
        Snapshot counted, List<MappedRange> ranges, CallSites sites) {
      readings++;
      if (fails) {
        throw new IllegalStateException("no file descriptor is left");
      }
      return Optional.of(new ResidentStacks(counted.time(), readings, List.of(), ""));
    }
  }

  private final ScriptedLibrary library =
      new ScriptedLibrary(FaceContract.counters(true, Double.NaN), FaceContract.selfReport());
  private final CountedMemory memory = new CountedMemory();
  private final ResidentReader reader =
      new ResidentReader(
          memory,
          library,
          new CallSiteReader(library, library.clock(), library::nanoTime),
          library.clock(),
          library::nanoTime);
  private final Snapshot before = library.read(library.clock().instant());

  @Test
  void nothingIsReadUnlessARequestAsks() {
    reader.read(before);

    assertThat(reader.isAsked()).isFalse();
    assertThat(memory.readings).isZero();
  }

  @Test
  void requestsAtOnceShareOneReadingOfThePollersThread() throws Exception {
    CompletableFuture<ResidentStacks> one = request();
    CompletableFuture<ResidentStacks> other = request();
    assertThat(one).isNotDone();

    poll();

    assertThat(residentBytes(one)).isEqualTo(1);
    assertThat(residentBytes(other)).isEqualTo(1);
    assertThat(memory.readings).isEqualTo(1);
    assertThat(reader.isAsked()).isFalse();
  }

  @Test
  void aReadingIsGivenAgainForASecond() throws Exception {
    CompletableFuture<ResidentStacks> first = request();
    poll();
    residentBytes(first);

    assertThat(reader.read().residentBytes()).isEqualTo(1);

    library.advanceClock(Duration.ofSeconds(2));
    CompletableFuture<ResidentStacks> next = request();
    poll();
    assertThat(residentBytes(next)).isEqualTo(2);
  }

  @Test
  void aFailureIsSaidToThoseWhoWait() throws Exception {
    memory.fails = true;
    CompletableFuture<ResidentStacks> waiting = request();

    assertThatThrownBy(this::poll).isInstanceOf(IllegalStateException.class);

    ResidentStacks read = waiting.get(30, TimeUnit.SECONDS);
    assertThat(read.stacks()).isEmpty();
    assertThat(read.reason()).contains("no file descriptor is left");
  }

  @Test
  void aFailureLeavesTheReadingBeforeItWithItsAge() throws Exception {
    CompletableFuture<ResidentStacks> first = request();
    poll();
    residentBytes(first);
    library.advanceClock(Duration.ofSeconds(3));
    memory.fails = true;
    CompletableFuture<ResidentStacks> failed = request();
    assertThatThrownBy(this::poll).isInstanceOf(IllegalStateException.class);

    ResidentStacks read = failed.get(30, TimeUnit.SECONDS);
    assertThat(read.residentBytes()).isEqualTo(1);
    assertThat(read.reason()).contains("3 s ago").contains("no file descriptor is left");

    library.advanceClock(Duration.ofSeconds(3));
    memory.fails = false;
    CompletableFuture<ResidentStacks> next = request();
    poll();
    assertThat(next.get(30, TimeUnit.SECONDS).reason()).isEmpty();
    assertThat(residentBytes(next)).isEqualTo(3);
  }

  @Test
  void anInterruptedRequestDoesNotWait() {
    Thread.currentThread().interrupt();

    assertThat(reader.read().reason()).contains("was not read within 10 s");
    assertThat(Thread.interrupted()).isTrue();
  }

  /** Starts a request on a new thread. Returns when that thread waits for the answer. */
  private CompletableFuture<ResidentStacks> request() throws InterruptedException {
    CompletableFuture<ResidentStacks> answer = new CompletableFuture<>();
    Thread thread = new Thread(() -> answer.complete(reader.read()));
    thread.start();
    while (thread.getState() != Thread.State.TIMED_WAITING && thread.isAlive()) {
      Thread.onSpinWait();
    }
    return answer;
  }

  private void poll() {
    assertThat(reader.isAsked()).isTrue();
    reader.read(before);
  }

  private static long residentBytes(CompletableFuture<ResidentStacks> answer) throws Exception {
    return answer.get(30, TimeUnit.SECONDS).residentBytes();
  }
}
