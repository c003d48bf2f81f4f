package io.mallometer.internal.leak;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.internal.history.KnownLeak;
import io.mallometer.model.LeakEvidence;
import io.mallometer.model.Verdict;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** What a proof does to a verdict, while it holds and when it is gone. */
class StandingTest {

  private static final Judgement GROWS =
      Judgement.unseen().growing(new Increase(120, 10 << 20, 20));

  @Test
  void whatIsLostIsALeakAtOnceAndStaysOneWhileItIsProven() {
    Standing standing = Standing.of(GROWS, Instant.EPOCH).after(proven(), Instant.EPOCH);
    assertThat(standing.verdict()).isEqualTo(Verdict.LEAK);
    for (int i = 0; i < 2 * LeakThresholds.AGREEING_TO_CLEAR; i++) {
      standing = standing.after(proven(), Instant.EPOCH);
    }
    assertThat(standing.verdict()).isEqualTo(Verdict.LEAK);
  }

  @Test
  void aLeakWhoseProofIsGoneIsGivenUp() {
    Standing standing = Standing.of(GROWS, Instant.EPOCH).after(proven(), Instant.EPOCH);
    for (int i = 1; i < LeakThresholds.AGREEING_TO_CLEAR; i++) {
      standing = standing.after(GROWS, Instant.EPOCH);
      assertThat(standing.verdict()).isEqualTo(Verdict.LEAK);
    }
    assertThat(standing.after(GROWS, Instant.EPOCH).verdict()).isEqualTo(Verdict.GROWING);
  }

  @Test
  void whatOutlastedTheLongestTimeoutStaysSoWhileItIsKnownToo() {
    Judgement known =
        GROWS.knownFrom(new KnownLeak("0123456789abcdef", Instant.EPOCH, LeakEvidence.LOST));
    Standing leak = new Standing(Verdict.LEAK, Instant.EPOCH, Verdict.LEAK, 0, GROWS);
    assertThat(leak.after(known, Instant.EPOCH).shown().leakEvidence())
        .isEqualTo(LeakEvidence.OUTLASTED);
    Standing lost = new Standing(Verdict.LEAK, Instant.EPOCH, Verdict.LEAK, 0, proven());
    assertThat(lost.after(known, Instant.EPOCH).shown().leakEvidence())
        .isEqualTo(LeakEvidence.KNOWN);
  }

  @Test
  void whatIsUnusedIsHealthyAtOnceWhenItsObjectsAreFreed() {
    Standing standing = Standing.of(GROWS, Instant.EPOCH).after(unused(), Instant.EPOCH);
    assertThat(standing.verdict()).isEqualTo(Verdict.UNUSED);
    assertThat(standing.after(Judgement.unseen(), Instant.EPOCH).verdict())
        .isEqualTo(Verdict.UNUSED);
    assertThat(standing.after(Judgement.noneLeft(), Instant.EPOCH).verdict())
        .isEqualTo(Verdict.HEALTHY);
  }

  private static Judgement unused() {
    return new Judgement(
        Verdict.UNUSED,
        new Judgement.Idle(5, 5, 120, 600, true),
        GROWS.suspected(),
        Double.NaN,
        null,
        false,
        null,
        null,
        null);
  }

  private static Judgement proven() {
    Share share = Share.of(47, 50, 50);
    return GROWS.losing(new Lost(50, 47, share, share), GROWS.suspected());
  }
}
