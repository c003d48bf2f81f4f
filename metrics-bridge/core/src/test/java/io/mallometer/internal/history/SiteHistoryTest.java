package io.mallometer.internal.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.SitesByHand;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.Grouping;
import io.mallometer.model.SiteChange;
import io.mallometer.model.SiteChanges;
import io.mallometer.model.SiteOrder;
import io.mallometer.model.SiteTrends;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class SiteHistoryTest {

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private final SiteHistory history = new SiteHistory();

  @Test
  void growthIsBetweenTheMomentsNearestToThoseAsked() {
    CallSites now = liveFor(Duration.ofMinutes(30));

    SiteChanges changes =
        history.changes(START.plusSeconds(605), START.plusSeconds(18 * 60 + 25), now);

    assertThat(changes.reason()).isEmpty();
    assertThat(changes.from()).contains(START.plusSeconds(600));
    assertThat(changes.to()).contains(START.plusSeconds(18 * 60));
    SiteChange growing = changes.changes().get(0);
    assertThat(growing.name()).isEqualTo("a.B.growing");
    assertThat(growing.frames()).isNotEmpty();
    assertThat(growing.live().liveBytesBefore()).isEqualTo(1_600);
    assertThat(growing.live().liveBytesAfter()).isEqualTo(2_080);
    assertThat(growing.liveBytesGrowth()).isEqualTo(480);
    assertThat(growing.liveObjectsGrowth()).isEqualTo(48);
    assertThat(growing.allocatedBytes()).isEqualTo(960);
  }

  @Test
  void halfOfTheKeptSitesHoldMostAndTheOthersAllocatedMost() {
    List<CallSite> sites = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      double live = i % 3 == 0 ? 5 : i % 3 == 1 ? i : Double.NaN;
      sites.add(SitesByHand.site(i, "a.B.m" + i, "liba.so", live));
    }
    CallSites read = SitesByHand.reading(START, sites);
    for (int most = 0; most < sites.size(); most++) {
      Set<Integer> expected = new TreeSet<>();
      read.sortedBy(SiteOrder.LIVE).stream()
          .limit(most / 2)
          .forEach(site -> expected.add(site.number()));
      for (CallSite site : read.sortedBy(SiteOrder.ALLOCATED)) {
        if (expected.size() < most) {
          expected.add(site.number());
        }
      }
      assertThat(SiteMoment.largest(read, most))
          .extracting(CallSite::number)
          .containsExactlyInAnyOrderElementsOf(expected);
    }
  }

  @Test
  void whatDidNotChangeIsLeftOutAndShrinkingComesLast() {
    CallSites now = liveFor(Duration.ofMinutes(10));

    assertThat(history.changes(START, now.time(), now).changes())
        .extracting(SiteChange::name)
        .containsExactly("a.B.growing", "a.B.shrinking");
  }

  @Test
  void aDifferenceIsToTheKeptMomentThatIsNearest() {
    liveFor(Duration.ofMinutes(10));
    CallSites now = at(Duration.ofSeconds(604));

    SiteChanges changes = history.changes(Duration.ofSeconds(30), now);
    assertThat(changes.reason()).isEmpty();
    assertThat(changes.from()).contains(START.plusSeconds(570));
    assertThat(changes.to()).contains(now.time());
    assertThat(changes.changes().get(0).allocatedObjects()).isPositive();
    // The moment at second 600 is only 4 s ago, less than half of 9 s, so an earlier moment is
    // used. The latest reading is never compared with itself.
    assertThat(history.changes(Duration.ofSeconds(9), now).from()).contains(START.plusSeconds(585));
    assertThat(history.changes(Duration.ofSeconds(1), now).from()).contains(START.plusSeconds(600));
  }

  @Test
  void aDifferenceBeyondTheFirstReadingSaysSo() {
    liveFor(Duration.ofMinutes(10));
    CallSites now = at(Duration.ofSeconds(604));

    SiteChanges changes = history.changes(Duration.ofHours(1), now);
    assertThat(changes.from()).contains(START);
    assertThat(changes.reason())
        .startsWith("call sites are known only since 2026-01-01T00:00:00Z: ");
  }

  @Test
  void withoutAnEarlierReadingThereIsNoDifference() {
    assertThat(history.changes(Duration.ofSeconds(10), at(Duration.ofSeconds(1))).reason())
        .startsWith("nothing is known about the time before ");
    assertThat(history.changes(Duration.ofSeconds(10), CallSites.none(START, "off")).reason())
        .isEqualTo("there are no call sites to compare: off");
  }

  @Test
  void theSecondMomentMayBeTheLatestReading() {
    liveFor(Duration.ofMinutes(10));
    CallSites now = at(Duration.ofSeconds(603));

    assertThat(history.changes(START, now.time(), now).to()).contains(now.time());
  }

  @Test
  void aSiteThatCameLaterHadNothingBefore() {
    history.add(SitesByHand.reading(START, List.of(SitesByHand.site(1, "a.B.c", "x", 5))), 0);
    CallSites now =
        SitesByHand.reading(
            START.plusSeconds(60),
            List.of(
                SitesByHand.site(1, "a.B.c", "x", 5), SitesByHand.site(2, "a.B.late", "x", 70)));

    assertThat(history.changes(START, now.time(), now).changes())
        .singleElement()
        .satisfies(late -> assertThat(late.live().liveBytesBefore()).isZero())
        .satisfies(late -> assertThat(late.liveBytesGrowth()).isEqualTo(70));
  }

  @Test
  void whereNothingWasKeptNothingIsClaimed() {
    CallSites now = liveFor(Duration.ofMinutes(80));

    SiteChanges tooEarly = history.changes(START.plusSeconds(60), now.time(), now);
    assertThat(tooEarly.changes()).isEmpty();
    assertThat(tooEarly.from()).isEmpty();
    assertThat(tooEarly.reason())
        .startsWith("nothing is known about 2026-01-01T00:01:00Z: call sites are known from ");

    assertThat(history.changes(now.time(), now.time(), now).reason())
        .startsWith("there are not two snapshots between ");
    assertThat(history.changes(now.time(), START.plusSeconds(3_000), now).reason())
        .startsWith("there are not two snapshots between ");
  }

  @Test
  void fromBeforeTheFirstReadingOnChangesAreThoseSinceIt() {
    CallSites now = liveFor(Duration.ofMinutes(3));

    SiteChanges changes = history.changes(START.minusSeconds(1_620), now.time(), now);

    assertThat(changes.from()).contains(START);
    assertThat(changes.reason())
        .isEqualTo(
            "call sites are known only since 2026-01-01T00:00:00Z: nothing is known about"
                + " 2025-12-31T23:33:00Z");
    assertThat(changes.changes().get(0).liveBytesGrowth()).isEqualTo(180);
  }

  /**
   * The latest stored reading must not replace the present call sites if these are missing. The
   * reading would be compared with itself, and seem to show that nothing changed.
   */
  @Test
  void withoutCallSitesNowTheReasonIsToldAndNoChangesAre() {
    Instant end = liveFor(Duration.ofMinutes(10)).time();

    SiteChanges off = history.changes(START, end, CallSites.none(end, "counting is off"));

    assertThat(off.reason()).isEqualTo("there are no call sites to compare: counting is off");
    assertThat(off.from()).isEmpty();
    assertThat(history.changes(START, end, CallSites.none(end, "")).reason())
        .isEqualTo("there are no call sites to compare");
  }

  @Test
  void anHourIsKeptByTheMinuteAndFiveMinutesBy15Seconds() {
    CallSites now = liveFor(Duration.ofHours(3));

    List<Instant> moments = new ArrayList<>();
    for (Instant asked = now.time().minusSeconds(3_600);
        asked.isBefore(now.time());
        asked = asked.plusSeconds(15)) {
      history.changes(asked, now.time(), now).from().ifPresent(moments::add);
    }

    assertThat(moments.stream().distinct().count()).isBetween(70L, 92L);
    assertThat(moments.get(0)).isBeforeOrEqualTo(now.time().minusSeconds(3_540));
  }

  @Test
  void ofMoreThan4096SitesTheLargestAreKeptAndTheOthersAreUnknown() {
    List<CallSite> many =
        IntStream.range(0, 5_000)
            .mapToObj(i -> SitesByHand.site(i, "a.B.m" + i, "x", 10_000 + i))
            .toList();
    history.add(SitesByHand.reading(START, many), 0);
    CallSites now = SitesByHand.reading(START.plusSeconds(60), many);

    List<SiteChange> changes = history.changes(START, now.time(), now).changes();

    assertThat(changes)
        .hasSize(5_000 - 4_096)
        .allMatch(change -> change.number() < 5_000 - 4_096)
        .allMatch(change -> Double.isNaN(change.liveBytesGrowth()));
  }

  @Test
  void groupsAreThoseThatHoldMostAndThoseThatGrewMostWithWhatTheyHeld() {
    CallSites now = liveFor(Duration.ofMinutes(2));

    SiteTrends trends = history.trends(now, Grouping.SITE::keyOf, 1);

    assertThat(trends.times()).hasSize(9).startsWith(START).endsWith(now.time());
    assertThat(trends.groups())
        .extracting(group -> group.figures().key())
        .containsExactly("a.B.shrinking", "a.B.growing");
    SiteTrends.Group growing = trends.groups().get(1);
    assertThat(growing.history()).hasSize(9).startsWith(1_000.0, 1_015.0).endsWith(1_120.0);
    assertThat(growing.growthBytes()).isEqualTo(120);
    assertThat(growing.largest()).singleElement().extracting(CallSite::number).isEqualTo(1);
    assertThat(history.trends(now, Grouping.LIBRARY::keyOf, 1).groups())
        .singleElement()
        .satisfies(all -> assertThat(all.history()).startsWith(13_000.0))
        .satisfies(all -> assertThat(all.largest()).hasSize(3));
  }

  private CallSites liveFor(Duration duration) {
    CallSites read = at(Duration.ZERO);
    for (long second = 0; second <= duration.toSeconds(); second += 15) {
      read = at(Duration.ofSeconds(second));
      history.add(read, second * 1_000_000_000L - 77);
    }
    return read;
  }

  /** Returns a growing site (1 byte/s), a steady one, and one that shrinks to 0. */
  private static CallSites at(Duration since) {
    return SitesByHand.reading(
        START.plus(since),
        List.of(
            SitesByHand.site(1, "a.B.growing", "x", 1_000 + since.toSeconds()),
            SitesByHand.site(2, "a.B.steady", "x", 3_000),
            SitesByHand.site(3, "a.B.shrinking", "x", Math.max(0, 9_000 - since.toSeconds()))));
  }
}
