package io.mallometer.internal.leak;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.VerdictsByHand;
import io.mallometer.internal.history.KnownLeak;
import io.mallometer.internal.symbol.StackFingerprint;
import io.mallometer.model.Estimate;
import io.mallometer.model.LeakEvidence;
import io.mallometer.model.LeakOptions;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.Verdict;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What is remembered of leaks, and when it is forgotten. */
@Tag("any-jdk")
class KnownLeaksTest {

  private static final Instant START = Instant.parse("2026-01-02T00:00:00Z");
  private static final Times TIMES = Times.of(LeakOptions.defaults());
  private static final long LONG = 35 * 60;

  private static final SiteVerdict LEAK =
      VerdictsByHand.verdict(Verdict.LEAK, "com.shop.Cart.zip", 1, 2e6);
  private static final SiteVerdict UNUSED =
      VerdictsByHand.verdict(Verdict.UNUSED, "com.shop.Cart.zip", 1, 2e6);
  private static final SiteVerdict USED =
      with(
          VerdictsByHand.verdict(Verdict.HEALTHY, "com.shop.Cart.zip", 1, 2e6),
          Estimate.ZERO,
          LeakEvidence.SLOTS);
  private static final KnownLeak OF_CART =
      new KnownLeak(
          StackFingerprint.of(LEAK.site().frames()),
          Instant.parse("2026-01-01T00:00:00Z"),
          LeakEvidence.OUTLASTED);

  private final KnownLeaks known = new KnownLeaks();
  private List<SiteVerdict> before = List.of();

  @Test
  void aLeakIsRememberedForLaterRunsAndNotForThisOne() {
    evaluate(0, UNUSED);
    assertThat(known.all()).isEmpty();
    evaluate(15, LEAK);

    assertThat(known.all()).containsExactly(OF_CART);
    assertThat(known.of(LEAK.site().frames())).isNull();
  }

  @Test
  void whatLeakedInAnEarlierRunStaysKnownUntilThisRunTellsMore() {
    known.add(List.of(OF_CART));
    evaluate(0);
    evaluate(LONG, UNUSED);
    evaluate(2 * LONG, with(LEAK, LEAK.suspected().objects(), LeakEvidence.KNOWN));

    assertThat(known.of(LEAK.site().frames())).isEqualTo(OF_CART);
    assertThat(known.all()).containsExactly(OF_CART);
  }

  @Test
  void aLeakThatIsGivenUpIsForgottenUntilTheProgramEnds() {
    known.add(List.of(OF_CART));
    evaluate(0, LEAK);
    evaluate(15, UNUSED);
    assertThat(known.all()).isEmpty();
    assertThat(known.of(LEAK.site().frames())).isNull();

    evaluate(30, LEAK);
    known.add(List.of(OF_CART));
    assertThat(known.all()).isEmpty();
  }

  @Test
  void whatSomebodySaysIsFineIsForgotten() {
    known.add(List.of(OF_CART));
    evaluate(0, LEAK.acknowledged(true));
    assertThat(known.all()).isEmpty();
    evaluate(15, LEAK);
    assertThat(known.all()).containsExactly(OF_CART);
  }

  @Test
  void aPoolIsForgotten() {
    known.add(List.of(OF_CART));
    evaluate(0, VerdictsByHand.verdict(Verdict.POOL, "com.shop.Cart.zip", 1, 2e6));
    assertThat(known.all()).isEmpty();
  }

  @Test
  void whatIsUsedForLongerThanTheLongestTimeoutIsForgotten() {
    known.add(List.of(OF_CART));
    evaluate(0, USED);
    evaluate(LONG - 1, USED);
    assertThat(known.all()).containsExactly(OF_CART);
    evaluate(LONG, USED);
    assertThat(known.all()).isEmpty();
  }

  @Test
  void whatIsIdleInBetweenOrNotSeenIsNotForgotten() {
    SiteVerdict idle = with(USED, new Estimate(1, 0, 1), LeakEvidence.SLOTS);
    SiteVerdict unseen = with(USED, Estimate.ZERO, LeakEvidence.AGES);
    known.add(List.of(OF_CART));
    for (SiteVerdict interruption : List.of(idle, unseen, UNUSED)) {
      evaluate(0, USED);
      evaluate(LONG - 1, interruption);
      evaluate(LONG, USED);
    }
    assertThat(known.all()).containsExactly(OF_CART);
  }

  /** Another place in the same functions is the same stack by its fingerprint. */
  @Test
  void aStackOfWhichOneSiteIsUsedIsNotRemembered() {
    SiteVerdict twin =
        with(
            VerdictsByHand.verdict(Verdict.HEALTHY, "com.shop.Cart.zip", 2, 2e6),
            Estimate.ZERO,
            LeakEvidence.SLOTS);
    evaluate(0, LEAK, twin);
    evaluate(LONG, LEAK, twin);
    assertThat(known.all()).isEmpty();
  }

  @Test
  void sitesThatAreJudgedTogetherAreNotRemembered() {
    evaluate(0, VerdictsByHand.verdict(Verdict.LEAK, "com.shop.Cart.zip", 1, 5, 2e6));
    assertThat(known.all()).isEmpty();
  }

  @Test
  void theOldestAreGivenUp() {
    known.add(
        IntStream.range(0, 100)
            .mapToObj(
                i -> new KnownLeak("%016x".formatted(i), START.plusSeconds(i), LeakEvidence.LOST))
            .toList());
    evaluate(0, LEAK);

    assertThat(known.all())
        .hasSize(64)
        .extracting(KnownLeak::stack)
        .contains("%016x".formatted(99), "%016x".formatted(36))
        .doesNotContain("%016x".formatted(35));
  }

  private void evaluate(long second, SiteVerdict... verdicts) {
    List<SiteVerdict> now = List.of(verdicts);
    known.learn(before, now, START.plusSeconds(second), TIMES);
    before = now;
  }

  private static SiteVerdict with(SiteVerdict verdict, Estimate objects, LeakEvidence evidence) {
    SiteVerdict.Suspected suspected = verdict.suspected();
    return new SiteVerdict(
        verdict.verdict(),
        verdict.since(),
        verdict.sentence(),
        verdict.site(),
        new SiteVerdict.Suspected(
            suspected.bytes(),
            objects,
            suspected.thresholdSeconds(),
            suspected.idleSeconds(),
            suspected.medianAgeSeconds(),
            suspected.oldestSeconds()),
        verdict.growth(),
        new SiteVerdict.Grounds(
            evidence, Double.NaN, verdict.grounds().lastAccess(), verdict.grounds().lastWrite()),
        verdict.acknowledged());
  }
}
