package io.mallometer.view;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.mallometer.FaceContract;
import io.mallometer.FakeMallometer;
import io.mallometer.SitesByHand;
import io.mallometer.VerdictsByHand;
import io.mallometer.model.ChargedPart;
import io.mallometer.model.Component;
import io.mallometer.model.MemoryMoment;
import io.mallometer.model.ResidentPart;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class PageViewsTest {

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private final FakeMallometer mallometer =
      new FakeMallometer(FaceContract.counters(true, 32_768), FaceContract.selfReport());

  @AfterEach
  void close() {
    mallometer.close();
  }

  @Test
  void columnsAreAsLongAsTheirTimesWhateverIsUnknown() throws Exception {
    HistoryView history =
        HistoryView.of(
            List.of(
                new MemoryMoment(START, Map.of(), Map.of(ChargedPart.KERNEL, 5L), Double.NaN),
                new MemoryMoment(
                    START.plusSeconds(15),
                    Map.of(ResidentPart.MALLOC_LIVE, 7L, ResidentPart.JAVA_HEAP, 9L),
                    Map.of(ChargedPart.KERNEL, 6L),
                    100)),
            List.of());
    JsonNode memory = json(history).get("memory");

    assertThat(memory.get("times").toString()).isEqualTo("[1767225600000,1767225615000]");
    assertThat(memory.get("limitBytes").toString()).isEqualTo("[null,100]");
    assertThat(memory.get("resident").toString())
        .isEqualTo(
            "[{\"name\":\"java_heap\",\"bytes\":[null,9]},{\"name\":\"malloc_live\",\"bytes\":[null,7]}]");
    assertThat(memory.get("charged").toString())
        .isEqualTo("[{\"name\":\"kernel\",\"bytes\":[5,6]}]");
  }

  @Test
  void trendsHaveGrowthHistoryAndStacks() throws Exception {
    mallometer.setSites(SitesByHand.three());
    mallometer.sites().read();

    JsonNode trends = json(new Views(mallometer).view("trends").orElseThrow());

    assertThat(trends.get("libraries").findValuesAsText("key"))
        .containsExactly("libzip.so", "librocksdbjni.so");
    JsonNode first = trends.get("sites").get(0);
    assertThat(first.get("figures").get("key").asText()).isEqualTo("com.shop.Cart.zip");
    assertThat(first.get("history").size()).isEqualTo(trends.get("times").size());
    assertThat(first.get("growthBytes").asLong()).isZero();
    assertThat(first.get("largest").get(0).get("frames").get(1).asText())
        .isEqualTo("com.shop.Cart.zip(Some.java:12)");
  }

  @Test
  void theOverviewHasEverythingThatChangesWithAPoll() throws Exception {
    JsonNode overview = json(new Views(mallometer, true).view("overview").orElseThrow());

    assertThat(overview.fieldNames())
        .toIterable()
        .containsExactlyInAnyOrder(
            "pid",
            "started",
            "askAgainSeconds",
            "trimAllowed",
            "diagnosis",
            "snapshot",
            "views",
            "exports");
    assertThat(overview.get("trimAllowed").asBoolean()).isTrue();
    assertThat(overview.get("pid").asLong()).isEqualTo(ProcessHandle.current().pid());
    assertThat(overview.get("diagnosis").get("state").asText()).isEqualTo("too_early");
    assertThat(overview.get("views").toString()).contains("history", "trends", "recording");
    assertThat(overview.get("exports").findValuesAsText("name"))
        .contains("pprof", "dhat", "leaks-text", "leaks-html");
  }

  /** Additional viewers of the page must not cause more work for the server. */
  @Test
  void whatIsWatchedIsWrittenOnceForAllWhoAskWithinSeconds() {
    Views views = new Views(mallometer);

    for (String view : List.of("overview", "history", "trends", "leaks")) {
      byte[] first = written(views, view);
      assertThat(written(views, view)).isSameAs(first);
      mallometer.advance(Duration.ofSeconds(30));
      assertThat(written(views, view)).isNotSameAs(first);
    }
  }

  @Test
  void viewsTogetherAreWhatEachIsAlone() throws Exception {
    Views views = new Views(mallometer);
    String names = "overview,history,leaks,trends,recording";

    String text = new String(bytes(views.together(names)), StandardCharsets.UTF_8);

    assertThat(new ObjectMapper().readTree(text).fieldNames())
        .toIterable()
        .containsExactly(names.split(","));
    for (String name : names.split(",")) {
      assertThat(text)
          .contains("\"" + name + "\":" + new String(written(views, name), StandardCharsets.UTF_8));
    }
  }

  @Test
  void onlyWhatIsWatchedIsAnsweredTogether() throws Exception {
    for (String names : List.of("", ",", "sites", "overview,nonsense")) {
      Answer answer = new Views(mallometer).together(names);
      assertThat(answer.outcome()).as(names).isEqualTo(Answer.Outcome.UNKNOWN);
      assertThat(json(((Answer.Told) answer).view()).get("reason").asText())
          .endsWith("history,leaks,overview,recording,trends can");
    }
  }

  /**
   * The components are cached, because reading them by reflection takes longer than writing the
   * view.
   */
  @Test
  void whatAViewConsistsOfIsLookedUpOnce() {
    assertThat(Component.of(OverviewView.class))
        .isSameAs(Component.of(OverviewView.class))
        .extracting(Component::name)
        .startsWith("pid", "started");
  }

  @Test
  void whatSomebodySaysOfALeakIsInTheNextAnswer() throws Exception {
    mallometer.setLeaks(VerdictsByHand.four());
    mallometer.poll();
    Views views = new Views(mallometer);
    String site = acknowledged(views, false);

    mallometer.leaks().acknowledge(site, true);
    assertThat(acknowledged(views, true)).isEqualTo(site);
    views.acknowledgeLeak(site, false);
    assertThat(acknowledged(views, false)).isEqualTo(site);
  }

  private static String acknowledged(Views views, boolean wanted) throws Exception {
    for (JsonNode leak : new ObjectMapper().readTree(written(views, "leaks"))) {
      if (leak.get("acknowledged").asBoolean() == wanted) {
        return leak.get("site").get("name").asText();
      }
    }
    return "none";
  }

  @Test
  void anOverviewIsOfTheLatestSnapshot() {
    Views views = new Views(mallometer);
    byte[] before = written(views, "overview");

    mallometer.poll();

    assertThat(written(views, "overview")).isNotSameAs(before);
  }

  @Test
  void theAgeInAnOverviewIsNeverMoreThanFiveSecondsOff() throws Exception {
    Views views = new Views(mallometer);
    mallometer.advance(Duration.ofSeconds(40));
    assertThat(overview(views).get("snapshot").get("ageSeconds").asDouble()).isEqualTo(40);
    mallometer.advance(Duration.ofSeconds(4));
    assertThat(overview(views).get("snapshot").get("ageSeconds").asDouble()).isEqualTo(40);
    mallometer.advance(Duration.ofSeconds(1));

    assertThat(overview(views).get("snapshot").get("ageSeconds").asDouble()).isEqualTo(45);
  }

  @Test
  void whatSomebodySaysOfALeakIsInTheNextOverview() {
    mallometer.setLeaks(VerdictsByHand.four());
    mallometer.poll();
    Views views = new Views(mallometer);
    byte[] before = written(views, "overview");

    mallometer.leaks().acknowledge("anything", true);

    assertThat(written(views, "overview")).isNotSameAs(before);
  }

  /** The viewers together may send at most two requests a second. */
  @Test
  void viewersTogetherAreToldToReadAtMostTwiceASecond() throws Exception {
    Views views = new Views(mallometer);
    int told = pace(views);
    assertThat(told).isEqualTo(10);
    int[] viewers = {20, 50, 50, 1000, 60, 1};
    int[] paces = {10, 25, 25, 60, 30, 10};
    for (int i = 0; i < viewers.length; i++) {
      told = paceAfter(views, viewers[i], told);
      assertThat(told).as("%d viewers", viewers[i]).isEqualTo(paces[i]);
    }
  }

  /** Viewers are forgotten after an hour without requests. */
  @Test
  void whoAsksAfterAPauseIsAlone() throws Exception {
    Views views = new Views(mallometer);
    assertThat(paceAfter(views, 90, pace(views))).isEqualTo(45);
    mallometer.advance(Duration.ofHours(1));
    assertThat(pace(views)).isEqualTo(10);

    for (int i = 0; i < 500; i++) {
      written(views, "overview");
    }
    mallometer.advance(Duration.ofHours(-2));
    assertThat(pace(views)).isEqualTo(10);
  }

  /**
   * Sends one request for each viewer but the last. The last viewer's request follows {@code told}
   * seconds later. Returns the interval in seconds that the answer to the last viewer states.
   */
  private int paceAfter(Views views, int viewers, int told) throws Exception {
    for (int i = 1; i < viewers; i++) {
      Answer answer =
          i % 2 == 0 ? views.together("overview,leaks") : views.answer("overview", Map.of());
      assertThat(answer.outcome()).isEqualTo(Answer.Outcome.OK);
    }
    mallometer.advance(Duration.ofSeconds(told));
    return pace(views);
  }

  private static int pace(Views views) throws Exception {
    return overview(views).get("askAgainSeconds").asInt();
  }

  private static JsonNode overview(Views views) throws Exception {
    return new ObjectMapper().readTree(written(views, "overview"));
  }

  private static byte[] written(Views views, String view) {
    return bytes(views.answer(view, Map.of()));
  }

  private static byte[] bytes(Answer answer) {
    return ((Answer.Written) ((Answer.Exported) answer).body()).bytes();
  }

  private static JsonNode json(View view) throws Exception {
    StringWriter out = new StringWriter();
    view.write(out);
    return new ObjectMapper().readTree(out.toString());
  }
}
