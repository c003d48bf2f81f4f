package io.mallometer.internal.leak;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.SitesByHand;
import io.mallometer.internal.history.KnownLeak;
import io.mallometer.internal.leak.Assessment.Idle;
import io.mallometer.internal.symbol.StackFingerprint;
import io.mallometer.model.CallSite;
import io.mallometer.model.Estimate;
import io.mallometer.model.LeakEvidence;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.SiteVerdict.Suspected;
import io.mallometer.model.Verdict;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that leaks are recorded for later runs, and removed when they are refuted. */
@Tag("any-jdk")
class KnownLeaksTest {

  private static final Instant START = Instant.parse("2026-01-02T00:00:00Z");
  private static final IdleLimits TIMES = IdleLimits.of(MallometerOptions.defaults());
  private static final long LONG = 35 * 60;

  private static final CallSite CART = site(1);
  private static final KnownLeak OF_CART =
      new KnownLeak(
          StackFingerprint.of(CART.frames()),
          Instant.parse("2026-01-01T00:00:00Z"),
          LeakEvidence.OUTLASTED);

  private static final SiteState LEAK = standing(Verdict.LEAK, idle(7), null);
  private static final SiteState UNUSED = standing(Verdict.UNUSED, idle(7), null);
  private static final SiteState USED = standing(Verdict.HEALTHY, idle(0), null);

  private final KnownLeaks known = new KnownLeaks();
  private boolean fine;

  @Test
  void aLeakIsRememberedForLaterRunsAndNotForThisOne() {
    evaluate(0, UNUSED);
    assertThat(known.all()).isEmpty();
    evaluate(15, LEAK);

    assertThat(known.all()).containsExactly(OF_CART);
    assertThat(known.of(CART.frames())).isNull();
  }

  @Test
  void whatLeakedInAnEarlierRunStaysKnownUntilThisRunTellsMore() {
    known.add(List.of(OF_CART));
    evaluate(LONG, UNUSED);
    evaluate(2 * LONG, standing(Verdict.LEAK, idle(7), OF_CART));

    assertThat(known.of(CART.frames())).isEqualTo(OF_CART);
    assertThat(known.all()).containsExactly(OF_CART);
  }

  @Test
  void aLeakThatIsGivenUpIsForgottenUntilTheProgramEnds() {
    known.add(List.of(OF_CART));
    evaluate(0, LEAK);
    known.refute(CART);
    assertThat(known.all()).isEmpty();
    assertThat(known.of(CART.frames())).isNull();

    evaluate(30, LEAK);
    known.add(List.of(OF_CART));
    assertThat(known.all()).isEmpty();
  }

  @Test
  void whatSomebodySaysIsFineIsForgotten() {
    known.add(List.of(OF_CART));
    fine = true;
    evaluate(0, LEAK);
    assertThat(known.all()).isEmpty();
    fine = false;
    evaluate(15, LEAK);
    assertThat(known.all()).containsExactly(OF_CART);
  }

  @Test
  void aPoolIsForgotten() {
    known.add(List.of(OF_CART));
    evaluate(0, standing(Verdict.POOL, idle(7), null));
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
    SiteState idle = standing(Verdict.HEALTHY, idle(1), null);
    SiteState unseen = SiteState.of(Assessment.UNSEEN, START);
    known.add(List.of(OF_CART));
    for (SiteState interruption : List.of(idle, unseen, UNUSED)) {
      evaluate(0, USED);
      evaluate(LONG - 1, interruption);
      evaluate(LONG, USED);
    }
    assertThat(known.all()).containsExactly(OF_CART);
  }

  /**
   * The stacks of site 2 and of the leak have the same functions, so a later run could not
   * distinguish the two sites. Site 2 is used, so the stack is not recorded as a leak.
   */
  @Test
  void aStackOfWhichOneSiteIsUsedIsNotRemembered() {
    for (long second : new long[] {0, LONG}) {
      evaluate(second, LEAK);
      learn(site(2), USED, second);
    }
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

  private void evaluate(long second, SiteState standing) {
    learn(CART, standing, second);
  }

  private void learn(CallSite site, SiteState standing, long second) {
    known.learn(site, standing, name -> fine, START.plusSeconds(second), TIMES);
  }

  private static CallSite site(int number) {
    return SitesByHand.site(number, "com.shop.Cart.zip", "libzip.so", 2e6);
  }

  private static Suspected idle(int objects) {
    Estimate idle = new Estimate(objects, 0, objects);
    return new Suspected(idle, idle, 300, 720, 1_800, 3_600);
  }

  private static SiteState standing(
      Verdict verdict, Suspected suspected, @Nullable KnownLeak earlier) {
    Assessment judged =
        new Assessment(verdict, Idle.none(0), suspected, null, false, null, null, earlier);
    return new SiteState(verdict, OF_CART.time(), verdict, 0, judged);
  }
}
