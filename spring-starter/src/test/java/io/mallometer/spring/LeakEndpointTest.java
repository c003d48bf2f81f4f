package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.FaceContract;
import io.mallometer.FakeMallometer;
import io.mallometer.VerdictsByHand;
import io.mallometer.model.LeakReport;
import io.mallometer.model.ProcessMemory;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.springframework.boot.json.JsonParserFactory;

@Tag("application")
@EnabledIf("io.mallometer.spring.Matrix#preloaded")
@Tag("jersey")
@Tag("any-jdk")
class LeakEndpointTest {

  private static final String PATH = "/actuator/nativememory/leaks";

  private static final FakeMallometer MALLOMETER =
      new FakeMallometer(FaceContract.counters(true, 32_768), FaceContract.selfReport());

  private static RunningApplication application;

  @BeforeAll
  static void start() {
    application =
        RunningApplication.with(
            MALLOMETER,
            "--management.endpoint.nativememory.access=unrestricted",
            "--management.endpoints.web.exposure.include=nativememory,health",
            "--management.endpoint.health.show-details=always");
  }

  @BeforeEach
  void judge() {
    MALLOMETER.setLeaks(VerdictsByHand.four());
    MALLOMETER.poll();
  }

  @AfterAll
  static void stop() {
    application.close();
    MALLOMETER.close();
  }

  @Test
  void anArrayOfVerdictsWithTheirStacks() {
    List<Map<String, Object>> verdicts = verdicts(application.get(PATH));

    assertThat(verdicts)
        .extracting(one -> one.get("verdict"))
        .containsExactly("leak", "leak", "growing", "pool");
    Map<String, Object> leak = verdicts.get(0);
    assertThat(leak)
        .containsEntry("sentence", "com.shop.Report.render keeps memory")
        .containsEntry("acknowledged", false)
        .containsKeys("since");
    assertThat(part(leak, "site"))
        .containsEntry("name", "com.shop.Report.render")
        .containsEntry(
            "frames",
            List.of("libzip.so!deflateInit2_+0x1f", "com.shop.Report.render(Some.java:12)"));
    assertThat(part(part(leak, "suspected"), "bytes")).containsEntry("value", 1_300_000_000);
    assertThat(part(leak, "growth")).containsEntry("bytesPerHour", 1.9e8);
    assertThat(part(leak, "grounds")).containsKeys("lastAccess", "evidence");
    assertThat(part(part(leak, "grounds"), "lastWrite"))
        .containsEntry("unavailable", "perf_event_open is forbidden");
  }

  @Test
  void whatIsUnknownIsLeftOutOrNull() {
    Map<String, Object> pool = verdicts(application.get(PATH)).get(3);
    assertThat(pool).containsEntry("verdict", "pool").containsKeys("site");
    assertThat(part(pool, "suspected")).containsKeys("bytes");
    assertThat(part(pool, "growth")).containsEntry("bytesPerHour", null);
    assertThat(part(pool, "grounds")).doesNotContainKeys("confidence");
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> part(Map<String, Object> whole, String name) {
    return (Map<String, Object>) whole.get(name);
  }

  @Test
  void whetherAcknowledgedSitesAreWantedIsTrueOrFalse() {
    assertThat(verdicts(application.get(PATH + "?all=true"))).hasSize(4);
    HttpResponse<String> wrong = application.response(PATH + "?all=perhaps");
    assertThat(wrong.statusCode()).isEqualTo(400);
    assertThat(wrong.body()).contains("all is 'perhaps'");
  }

  @Test
  void textAndHtmlForPeople() {
    assertThat(application.get(PATH + "?format=text")).startsWith("Leaks at ");
    assertThat(application.get(PATH + "?format=html")).startsWith("<!DOCTYPE html>");
    assertThat(application.response(PATH + "?format=pdf").statusCode()).isEqualTo(400);
  }

  /** Spring MVC and Spring WebFlux pass the query to the endpoint in different ways. */
  @Test
  void aSearchForOwnersTakesItsLinksFromTheQuery() {
    HttpResponse<String> answer =
        application.send("POST", "local.server.port", "/actuator/nativememory/owners/7?links=9");
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body()).contains("links is '9' and must be a whole number from 0 to 8");
  }

  @Test
  void aSiteIsSaidToBeFineAndThatIsTakenBack() {
    String site = PATH + "/com.shop.Report.render";

    HttpResponse<String> fine = application.send("POST", "local.server.port", site);
    assertThat(fine.statusCode()).isEqualTo(200);
    assertThat(verdicts(fine.body()).get(0)).containsEntry("acknowledged", true);
    assertThat(verdicts(application.get(PATH)).get(0)).containsEntry("acknowledged", true);
    assertThat(leaking()).doesNotContain("com.shop.Report.render");

    HttpResponse<String> again = application.send("DELETE", "local.server.port", site);
    assertThat(again.statusCode()).isEqualTo(200);
    assertThat(verdicts(application.get(PATH)).get(0)).containsEntry("acknowledged", false);
    assertThat(leaking()).contains("com.shop.Report.render");
  }

  @Test
  void aSiteThatThereIsNotCannotBeSaidToBeFine() {
    HttpResponse<String> unknown =
        application.send("POST", "local.server.port", PATH + "/com.shop.Report.rendr");

    assertThat(unknown.statusCode()).isEqualTo(404);
    assertThat(unknown.body()).contains("no call site is named 'com.shop.Report.rendr'");
    assertThat(application.post(PATH + "/com.shop.Repo*")).isEqualTo(200);
    application.send("DELETE", "local.server.port", PATH + "/com.shop.Repo*");
  }

  @Test
  void whereUseIsNotObservedAnEmptyListSaysWhy() {
    MALLOMETER.setLeaks(
        LeakReport.none(MALLOMETER.clock().instant().plusSeconds(1), "MALLOMETER_LEAKS is off"));

    for (String query : List.of("", "?all=true")) {
      HttpResponse<String> empty = application.response(PATH + query);
      assertThat(empty.statusCode()).isEqualTo(501);
      assertThat(empty.body())
          .contains("accesses to objects are not observed: MALLOMETER_LEAKS is off");
    }
  }

  @Test
  void anotherSitesPageCanSayNothingOfASite() {
    String site = PATH + "/com.shop.Report.render";

    for (String method : List.of("POST", "DELETE")) {
      HttpResponse<String> refused =
          application.send(method, "local.server.port", site, "Sec-Fetch-Site", "cross-site");
      assertThat(refused.statusCode()).isEqualTo(403);
      assertThat(refused.body()).contains("Sec-Fetch-Site: cross-site");
    }
    assertThat(leaking()).contains("com.shop.Report.render");
  }

  @Test
  void whatCannotBeChangedIsNotThere() {
    for (String method : List.of("POST", "DELETE")) {
      HttpResponse<String> answer =
          application.send(method, "local.server.port", "/actuator/nativememory/sites/some");
      assertThat(answer.statusCode()).isEqualTo(404);
      assertThat(answer.body()).contains("leaks/NAME");
    }
  }

  private static List<String> leaking() {
    return MALLOMETER.leaks().report().leaks().stream().map(leak -> leak.site().name()).toList();
  }

  @Test
  void healthNamesTheWorst() {
    assertThat(application.get("/actuator/health"))
        .contains("\"leaks\":1", "com.shop.Report.render keeps memory");
  }

  @Test
  void healthIsUpWhateverTheDiagnosis() {
    assertHealthIsUpIn("act");
    MALLOMETER.setLeaks(VerdictsByHand.report(VerdictsByHand.stopped("a.B.c", 5e6, Instant.EPOCH)));
    poll(Duration.ofMinutes(6));
    assertHealthIsUpIn("watch");
    MALLOMETER.setLeaks(VerdictsByHand.report());
    MALLOMETER.setMemory(FaceContract.memory(1 << 30));
    poll(Duration.ofMinutes(12));
    assertHealthIsUpIn("healthy");
    MALLOMETER.setMemory(ProcessMemory.unknown());
  }

  private static void poll(Duration length) {
    for (int second = 0; second < length.toSeconds(); second += 5) {
      MALLOMETER.advance(Duration.ofSeconds(5));
      MALLOMETER.poll();
    }
  }

  private static void assertHealthIsUpIn(String diagnosis) {
    Map<String, Object> health = application.json("/actuator/health/nativeMemory");
    assertThat(health).containsEntry("status", "UP");
    assertThat(health.get("details"))
        .asInstanceOf(InstanceOfAssertFactories.MAP)
        .containsEntry("diagnosis", diagnosis);
  }

  @SuppressWarnings("unchecked")
  private static List<Map<String, Object>> verdicts(String json) {
    return (List<Map<String, Object>>) (List<?>) JsonParserFactory.getJsonParser().parseList(json);
  }
}
