package io.mallometer.internal.leak;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.internal.history.KnownLeak;
import io.mallometer.model.LeakEvidence;
import io.mallometer.model.Verdict;
import java.time.Instant;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests the verdict on a call site with lost objects. An object is lost if no memory contains its
 * address.
 */
@Tag("any-jdk")
class SiteStateTest {

  private static final Assessment GROWS =
      Assessment.UNSEEN.withIncrease(new Increase(120, 10 << 20, 20));

  @Test
  void whatIsLostIsALeakAtOnceAndStaysOneWhileItIsProven() {
    SiteState standing = SiteState.of(GROWS, Instant.EPOCH).after(proven(), Instant.EPOCH);
    assertThat(standing.verdict()).isEqualTo(Verdict.LEAK);
    for (int i = 0; i < 2 * LeakThresholds.EVALUATIONS_TO_CLEAR; i++) {
      standing = standing.after(proven(), Instant.EPOCH);
    }
    assertThat(standing.verdict()).isEqualTo(Verdict.LEAK);
  }

  @Test
  void aLeakWhoseProofIsGoneIsGivenUp() {
    SiteState standing = SiteState.of(GROWS, Instant.EPOCH).after(proven(), Instant.EPOCH);
    for (int i = 1; i < LeakThresholds.EVALUATIONS_TO_CLEAR; i++) {
      standing = standing.after(GROWS, Instant.EPOCH);
      assertThat(standing.verdict()).isEqualTo(Verdict.LEAK);
    }
    assertThat(standing.after(GROWS, Instant.EPOCH).verdict()).isEqualTo(Verdict.GROWING);
  }

  @Test
  void whatOutlastedTheLongestTimeoutStaysSoWhileItIsKnownToo() {
    Assessment known =
        GROWS.asKnownLeak(new KnownLeak("0123456789abcdef", Instant.EPOCH, LeakEvidence.LOST));
    SiteState leak = new SiteState(Verdict.LEAK, Instant.EPOCH, Verdict.LEAK, 0, GROWS);
    assertThat(leak.after(known, Instant.EPOCH).shown().leakEvidence())
        .isEqualTo(LeakEvidence.OUTLASTED);
    SiteState lost = new SiteState(Verdict.LEAK, Instant.EPOCH, Verdict.LEAK, 0, proven());
    assertThat(lost.after(known, Instant.EPOCH).shown().leakEvidence())
        .isEqualTo(LeakEvidence.KNOWN);
  }

  @Test
  void whatIsUnusedIsHealthyAtOnceWhenItsObjectsAreFreed() {
    SiteState standing = SiteState.of(GROWS, Instant.EPOCH).after(unused(), Instant.EPOCH);
    assertThat(standing.verdict()).isEqualTo(Verdict.UNUSED);
    assertThat(standing.after(Assessment.UNSEEN, Instant.EPOCH).verdict())
        .isEqualTo(Verdict.UNUSED);
    assertThat(standing.after(Assessment.NONE_LEFT, Instant.EPOCH).verdict())
        .isEqualTo(Verdict.HEALTHY);
  }

  private static Assessment unused() {
    return new Assessment(
        Verdict.UNUSED,
        new Assessment.Idle(5, 5, 120, 600, true),
        GROWS.suspected(),
        null,
        false,
        null,
        null,
        null);
  }

  private static Assessment proven() {
    EstimatedShare share = EstimatedShare.of(47, 50, 50);
    return GROWS.withLostObjects(new LostObjects(50, 47, share, share), GROWS.suspected());
  }
}
