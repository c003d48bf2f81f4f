package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.FaceContract;
import io.mallometer.FakeMallometer;
import io.mallometer.SitesByHand;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.view.View;
import io.mallometer.view.Views;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.json.JsonParserFactory;

@Tag("application")
@EnabledIf("io.mallometer.spring.Matrix#preloaded")
@Tag("jersey")
@Tag("any-jdk")
class SiteEndpointTest {

  private static final String PATH = "/actuator/nativememory/";
  private static final Instant NOW = Instant.parse("2026-01-01T00:10:00Z");
  private static final int UNIMPORTANT = 200;

  private static final FakeMallometer MALLOMETER =
      new FakeMallometer(FaceContract.counters(true, 32_768), FaceContract.selfReport());

  private static RunningApplication application;

  /**
   * Makes two readings that are 10 minutes apart. The second has more sites than are shown by
   * default.
   */
  @BeforeAll
  static void start() throws Exception {
    MALLOMETER.setMemory(FaceContract.memory(1_073_741_824));
    MALLOMETER.setAllocator(FaceContract.allocator(7_000));
    MALLOMETER.poll();
    MALLOMETER.setSites(SitesByHand.three());
    MALLOMETER.sites().read();
    MALLOMETER.advance(Duration.ofMinutes(10));
    MALLOMETER.setSites(later());
    MALLOMETER.sites().read();
    application = RunningApplication.with(MALLOMETER);
  }

  private static CallSites later() {
    List<CallSite> sites =
        new ArrayList<>(
            IntStream.range(100, 100 + UNIMPORTANT)
                .mapToObj(i -> SitesByHand.site(i, "org.other.Thing.m" + i, "libm.so", i))
                .toList());
    sites.add(SitesByHand.site(7, "com.shop.Cart.zip", "libzip.so", 340_000));
    sites.add(SitesByHand.site(8, "com.shop.Store.open", "librocksdbjni.so", 200_000));
    sites.add(SitesByHand.site(9, "com.shop.pdf.Printer.print", "libzip.so", 20_000));
    return SitesByHand.reading(NOW, sites);
  }

  @AfterAll
  static void stop() {
    application.close();
    MALLOMETER.close();
  }

  @Test
  void fiftySitesWithTheirIntervalsAndStacksMostLiveFirst() {
    Map<String, Object> body = application.json(PATH + "sites");

    assertThat(body).containsEntry("matching", UNIMPORTANT + 3);
    assertThat(rows(body, "sites")).hasSize(50);
    assertThat(rows(body, "sites").get(0))
        .containsEntry("name", "com.shop.Cart.zip")
        .containsEntry("library", "libzip.so")
        .containsEntry("number", 7)
        .containsEntry(
            "frames", List.of("libzip.so!allocate+0x1f", "com.shop.Cart.zip(Some.java:12)"))
        .containsEntry("liveBytes", Map.of("value", 340_000, "low", 276_631, "high", 417_266))
        .containsKey("bytesPerSecond");
    assertThat(row(rows(body, "sites").get(0), "ages")).containsEntry("oldest", 3600.0);
    assertThat(row(body, "reading"))
        .containsEntry("time", NOW.toString())
        .containsEntry("samples", 77)
        .containsEntry("byteUnit", "chunk")
        .containsEntry("dropped", Map.of("no_site", 5, "not_followed", 3));
  }

  @Test
  void sitesAreFilteredSortedAndLimited() {
    assertThat(names("sites?filter=SHOP")).hasSize(3);
    assertThat(names("sites?filter=SHOP&sort=rate&limit=1")).containsExactly("com.shop.Cart.zip");
    assertThat(names("sites?limit=10000")).hasSize(UNIMPORTANT + 3);
  }

  @Test
  void sitesAreGrouped() {
    Map<String, Object> body = application.json(PATH + "sites?group=library&sort=live");

    assertThat(body).containsEntry("grouping", "library").containsEntry("matching", 3);
    assertThat(rows(body, "groups").get(0))
        .containsEntry("key", "libzip.so")
        .containsEntry("sites", 2);
    assertThat(rows(application.json(PATH + "sites?group=package&filter=pdf"), "groups"))
        .singleElement()
        .satisfies(group -> assertThat(group).containsEntry("key", "com.shop.pdf"));
  }

  @Test
  void whatGrewIsToldWithTheMomentsThatWereCompared() {
    for (String query :
        List.of("from=10m", "from=PT10M", "from=2026-01-01T00:00:20Z&to=2026-01-01T00:10:00Z")) {
      Map<String, Object> body = application.json(PATH + "sites?filter=shop&" + query);

      assertThat(body)
          .containsEntry("from", "2026-01-01T00:00:00Z")
          .containsEntry("to", NOW.toString())
          .containsEntry("matching", 2);
      assertThat(rows(body, "changes").get(0))
          .containsEntry("name", "com.shop.Cart.zip")
          .containsEntry("liveBytesBefore", 300_000)
          .containsEntry("liveBytesGrowth", 40_000)
          .containsEntry("liveObjectsGrowth", 4_000)
          .containsEntry("allocatedBytes", 80_000);
      assertThat(rows(body, "changes").get(1)).containsEntry("liveBytesGrowth", -30_000);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "sites?sort=size | sort is 'size' and must be one of live, live-objects, allocated,",
        "sites?sort=growth | sort is 'growth' and must be one of live,",
        "sites?sort=rate&from=10m | sort is 'rate' and must be one of growth,",
        "sites?group=colour | group is 'colour' and must be one of site, library, frame, package",
        "sites?limit=0 | limit is '0' and must be a whole number from 1 to 10000",
        "sites?limit=10001 | limit is '10001' and must be",
        "sites?limit=many | limit is 'many' and must be",
        "sites?from=yesterday | from is 'yesterday' and must be a time such as",
        "sites?from=-5m | from is '-5m' and must be a time such as",
        "sites?from=10m&to=soon | to is 'soon' and must be",
        "sites?to=5m | to is the end of a change and needs from, its beginning",
        "sites?from=10m&group=site | group cannot be combined with from",
        "sites?from=3h&to=2h | nothing is known about 2025-12-31T22:10:00Z: call sites are known"
            + " from",
        "sites?top=-1 | sites has no parameter 'top'; it has sort, group, filter, owner, limit,"
            + " from, to",
        "breakdown?limit=5 | breakdown has no parameter 'limit'; it has none",
        "leaks?limit=5 | leaks has no parameter 'limit'; it has all, owner, format",
        "flamegraph?sort=rate | flamegraph has no parameter 'sort'; it has metric, filter",
        "flamegraph?seconds=30 | flamegraph has no parameter 'seconds'; it has metric, filter, at",
        "pprof?seconds=0 | seconds is '0' and must be a whole number from 1 to 3600",
        "pprof?seconds=30&at=peak | at names one moment and cannot be combined with seconds",
        "pprof?at=noon | at is 'noon' and must be one of peak, 85, 90, 95",
        "sites?at=peak&from=10m | at names one moment and cannot be combined with from or to",
        "flamegraph?metric=weight | metric is 'weight' and must be one of live, live-objects,",
      })
  void whatMakesNoSenseIsRefusedWithTheReason(String query, String reason) {
    HttpResponse<String> answer = application.response(PATH + query);

    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(JsonParserFactory.getJsonParser().parseMap(answer.body()).get("reason").toString())
        .contains(reason);
  }

  /**
   * Spring Security adds {@code continue} to an address after a login by form. It must not count as
   * an unknown parameter.
   */
  @Test
  void theMarkOfSpringSecurityIsNoParameter() {
    assertThat(names("sites?limit=1&continue")).hasSize(1);
  }

  @Test
  void aWrongParameterIsNoWayToWriteIntoThePage() {
    HttpResponse<String> answer =
        application.response(
            PATH + "sites?group=" + URLEncoder.encode("<script>", StandardCharsets.UTF_8));

    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.headers().firstValue("Content-Type")).get().asString().contains("json");
  }

  /** The endpoint and the agent's server must give the same answers. */
  @Test
  void theJsonIsWhatTheViewsWrite() throws IOException {
    Views views = new Views(MALLOMETER);
    assertThat(application.json("/actuator/nativememory")).isEqualTo(json(views.nativeMemory()));
    for (String name : Views.NAMES) {
      assertThat(parsed(application.get(PATH + name)))
          .as(name)
          .isEqualTo(json(views.view(name).orElseThrow()));
    }
  }

  private static Object json(View view) throws IOException {
    StringWriter written = new StringWriter();
    view.write(written);
    return parsed(written.toString());
  }

  /** Parses JSON, and sets the estimate of a pause to 0, because it depends on the heap. */
  private static Object parsed(String read) {
    String json = read.replaceAll("\"pauseSeconds\":[^,}]+", "\"pauseSeconds\":0");
    return json.startsWith("[")
        ? JsonParserFactory.getJsonParser().parseList(json)
        : JsonParserFactory.getJsonParser().parseMap(json);
  }

  @ParameterizedTest
  @CsvSource({
    "collapsed, text/plain",
    "flamegraph, text/html",
    "pprof, application/octet-stream",
    "dhat, application/json",
    "table, application/json"
  })
  void reportsComeInTheirOwnTypes(String format, String type) {
    for (String accept : List.of("*/*", type)) {
      HttpResponse<String> answer =
          application.send("GET", "local.server.port", PATH + format, "Accept", accept);

      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
      assertThat(answer.headers().firstValue("Content-Type")).get().asString().startsWith(type);
      assertThat(answer.body()).isNotEmpty();
    }
  }

  /**
   * The reading from 10 minutes ago still exists, so the endpoint need not wait for the {@code
   * seconds} of the request.
   */
  @Test
  void aProfileMayBeTheDifferenceToSomeTimeAgo() throws IOException {
    HttpResponse<byte[]> answer = application.bytes(PATH + "pprof?seconds=600");

    assertThat(answer.statusCode()).isEqualTo(200);
    try (InputStream profile = new GZIPInputStream(new ByteArrayInputStream(answer.body()))) {
      assertThat(new String(profile.readAllBytes(), StandardCharsets.ISO_8859_1))
          .contains("Changes since 2026-01-01T00:00:00Z", "com.shop.Cart.zip");
    }
  }

  @Test
  void sitesOfAMomentThatDidNotComeAreRefusedWithTheReason() {
    for (String name : List.of("pprof", "table", "collapsed")) {
      HttpResponse<String> answer = application.response(PATH + name + "?at=95");
      assertThat(answer.statusCode()).isEqualTo(501);
      assertThat(answer.body()).contains("95 % of the memory limit was not exceeded");
    }
    assertThat(row(application.json(PATH + "sites?at=peak"), "reading"))
        .containsEntry("reason", "no call sites have been stored yet");
  }

  @Test
  void aReportIsOfTheMetricAndTheSitesAskedFor() {
    assertThat(application.get(PATH + "collapsed?metric=live-objects&filter=Cart"))
        .contains("com.shop.Cart.zip")
        .containsPattern("34000\n")
        .doesNotContain("com.shop.Store");
  }

  /** Browsers prefer HTML but accept any type. */
  @Test
  void theOtherViewsAreJsonForBrowsersToo() {
    HttpResponse<String> answer =
        application.send(
            "GET", "local.server.port", PATH + "breakdown", "Accept", "text/html,*/*;q=0.8");

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("Content-Type")).get().asString().contains("json");
    assertThat(application.response(PATH + "nonsense").statusCode()).isEqualTo(404);
  }

  private static List<Object> names(String query) {
    return rows(application.json(PATH + query), "sites").stream()
        .map(site -> site.get("name"))
        .toList();
  }

  @SuppressWarnings("unchecked")
  private static List<Map<String, Object>> rows(Map<String, Object> body, String name) {
    return (List<Map<String, Object>>) body.get(name);
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> row(Map<String, Object> body, String name) {
    return (Map<String, Object>) body.get(name);
  }
}
