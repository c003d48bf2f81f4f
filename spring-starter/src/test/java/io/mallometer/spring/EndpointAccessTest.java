package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.json.JsonParserFactory;

@Tag("access")
@Tag("any-jdk")
class EndpointAccessTest {

  private static final String OVERVIEW = "/actuator/nativememory/overview";
  private static final String TRIM = "/actuator/nativememory/trim";
  private static final String EVIDENCE = "/actuator/nativememory/evidence";
  private static final String UNRESTRICTED =
      "--management.endpoint.nativememory.access=unrestricted";

  private static final String AT_ANY_TIME = "--mallometer.trim.minimum-interval=0s";

  @Test
  void nobodyMayTrimUnlessItIsAllowed() throws Exception {
    try (RunningApplication application =
        RunningApplication.start("--mallometer.leak.acknowledged-sites=com.shop.Cart.*")) {
      assertThat(application.get("/actuator/nativememory")).contains("\"status\"");
      assertThat(application.get("/actuator/nativememory/sites")).contains("\"matching\"");
      assertThat(application.get(OVERVIEW)).contains("\"trimAllowed\":false");
      assertThat(application.get("/actuator/nativememory/page")).contains("<title>Native memory");
      severalViewsComeTogether(application);
      aParameterThatThereIsNotIsRefused(application);
      for (String[] change :
          new String[][] {
            {"POST", TRIM}, {"DELETE", "/actuator/nativememory/leaks/com.shop.Cart.zip"}
          }) {
        HttpResponse<String> refused = application.send(change[0], "local.server.port", change[1]);
        assertThat(refused.statusCode()).isEqualTo(405);
        assertThat(refused.body())
            .contains("management.endpoint.nativememory.access=unrestricted allows POST to trim");
      }
      assertThat(application.post("/elsewhere")).isEqualTo(404);
      assertThat(application.post("/proxy/actuator/nativememory/x")).isEqualTo(404);
      assertThat(application.context().getBean(PageAddress.class).find())
          .matches("http://127\\.0\\.0\\.1:\\d+/actuator/nativememory/page");
      HttpResponse<String> unknown = application.response(TRIM);
      assertThat(unknown.statusCode()).isEqualTo(404);
      assertThat(unknown.body())
          .contains("there is no 'trim'; there are breakdown", "; and page, evidence, and views/");
      theEvidenceHasTheSettings(application.bytes(EVIDENCE));
    }
  }

  private static void theEvidenceHasTheSettings(HttpResponse<byte[]> zip) throws IOException {
    theEvidenceIsAZip(zip);
    Map<String, String> entries = entries(zip.body());

    assertThat(entries).containsKeys("report.txt", "overview.json");
    assertThat(JsonParserFactory.getJsonParser().parseMap(entries.get("settings.json")))
        .containsEntry("mallometer.leak.acknowledged-sites", "com.shop.Cart.*")
        .allSatisfy((name, value) -> assertThat(name).matches("(mallometer\\.|MALLOMETER_).*"));
  }

  private static void theEvidenceIsAZip(HttpResponse<?> zip) {
    assertThat(zip.statusCode()).isEqualTo(200);
    assertThat(zip.headers().firstValue("Content-Type")).contains("application/zip");
  }

  private static Map<String, String> entries(byte[] zip) throws IOException {
    Map<String, String> entries = new HashMap<>();
    ZipInputStream in = new ZipInputStream(new ByteArrayInputStream(zip));
    for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
      entries.put(entry.getName(), new String(in.readAllBytes(), StandardCharsets.UTF_8));
    }
    return entries;
  }

  private static void aParameterThatThereIsNotIsRefused(RunningApplication application) {
    for (String path : List.of("?limit=5", "/views/overview?limit=5", "/evidence?limit=5")) {
      HttpResponse<String> refused = application.response("/actuator/nativememory" + path);
      assertThat(refused.statusCode()).as(path).isEqualTo(400);
      assertThat(refused.body()).as(path).contains("has no parameter 'limit'; it has none");
    }
  }

  private static void severalViewsComeTogether(RunningApplication application) {
    assertThat(application.json("/actuator/nativememory/views/overview,recording"))
        .containsOnlyKeys("overview", "recording");
    for (String path : List.of("views/sites", "nonsense/overview")) {
      HttpResponse<String> answer = application.response("/actuator/nativememory/" + path);
      assertThat(answer.statusCode()).as(path).isEqualTo(404);
      assertThat(answer.body()).as(path).contains("\"reason\"");
    }
  }

  @Test
  void whoeverReachesTheEndpointMayTrimWhereItIsAllowed() {
    try (RunningApplication application =
        RunningApplication.start(
            UNRESTRICTED, AT_ANY_TIME, "--server.forward-headers-strategy=framework")) {
      assertThat(application.get(OVERVIEW)).contains("\"trimAllowed\":true");
      Map<String, Object> answer =
          JsonParserFactory.getJsonParser()
              .parseMap(application.send("POST", "local.server.port", TRIM).body());
      assertThat(answer)
          .containsEntry("outcome", "DONE")
          .containsKeys(
              "explanation",
              "residentBeforeBytes",
              "residentAfterBytes",
              "returnedBytes",
              "seconds",
              "nextPossible");
      assertThat(application.response(TRIM).statusCode()).isEqualTo(404);
      HttpResponse<String> zip = application.send("POST", "local.server.port", EVIDENCE);
      theEvidenceIsAZip(zip);
      assertThat(zip.body()).startsWith("PK").contains("report.txt", "overview.json", "settings");
      assertThat(application.post("/actuator/nativememory/breakdown")).isEqualTo(404);
      assertThat(application.post("/actuator/nativememory")).isEqualTo(405);
      assertThat(application.send("PUT", "local.server.port", TRIM).statusCode()).isEqualTo(405);
      fromThePageBehindAProxyThatIsTrusted(application);
    }
  }

  private static void fromThePageBehindAProxyThatIsTrusted(RunningApplication application) {
    String[] forwarded = {
      "Origin", "https://proxy.example",
      "X-Forwarded-Host", "proxy.example",
      "X-Forwarded-Proto", "https"
    };
    assertThat(application.post(TRIM, forwarded)).isEqualTo(200);
  }

  @Test
  void onAManagementPortItIsThereAndNowhereElse() {
    try (RunningApplication application =
        RunningApplication.start(
            UNRESTRICTED,
            AT_ANY_TIME,
            "--management.server.port=0",
            "--management.server.address=127.0.0.1")) {
      assertThat(application.post(TRIM)).isEqualTo(404);
      assertThat(application.response("/actuator/nativememory").statusCode()).isEqualTo(404);

      assertThat(application.send("POST", "local.management.port", TRIM).statusCode())
          .isEqualTo(200);
      assertThat(
              application
                  .send("GET", "local.management.port", "/actuator/nativememory/allocator")
                  .statusCode())
          .isEqualTo(200);
      anotherSitesPageCannotMakeABrowserTrim(application);
    }
    aSecondTrimIsRefused();
  }

  private static void anotherSitesPageCannotMakeABrowserTrim(RunningApplication application) {
    String[] elsewhere = {"Origin", "http://evil.example", "X-Forwarded-Host", "evil.example"};
    HttpResponse<String> refused = trimFrom(application, TRIM, elsewhere);
    assertThat(refused.statusCode()).isEqualTo(403);
    assertThat(refused.body()).contains("\"reason\"", "it comes from http://evil.example");
    // Jersey answers 404, because it does not decode this path.
    assertThat(trimFrom(application, "/actuator/%6eativememory/trim", elsewhere).statusCode())
        .isIn(403, 404);
    assertThat(trimFrom(application, TRIM, "Sec-Fetch-Site", "same-site").statusCode())
        .isEqualTo(403);
    String port = application.context().getEnvironment().getProperty("local.management.port");
    assertThat(trimFrom(application, TRIM, "Origin", "http://127.0.0.1:" + port).statusCode())
        .isEqualTo(200);
    // The browser sends the host name of the proxy, which the application does not know.
    String[] proxied = {"Sec-Fetch-Site", "same-origin", "Origin", "https://proxy.example"};
    assertThat(trimFrom(application, TRIM, proxied).statusCode()).isEqualTo(200);
  }

  private static HttpResponse<String> trimFrom(
      RunningApplication application, String path, String... headers) {
    return application.send("POST", "local.management.port", path, headers);
  }

  /**
   * The interval between trims applies to the whole process, because all contexts share the
   * allocator. A trim of a closed context also counts.
   */
  private static void aSecondTrimIsRefused() {
    try (RunningApplication second =
        RunningApplication.start(UNRESTRICTED, "--mallometer.trim.minimum-interval=1h")) {
      HttpResponse<String> answer = second.send("POST", "local.server.port", TRIM);
      assertThat(answer.statusCode()).isEqualTo(429);
      assertThat(answer.body()).contains("\"outcome\":\"REFUSED\"", "the next is possible in 3");
    }
  }

  @Test
  void whereAccessIsForbiddenThereIsNothing() {
    try (RunningApplication application =
        RunningApplication.start("--management.endpoint.nativememory.access=none")) {
      for (String view : List.of("", "/allocator", "/sites", "/flamegraph", "/collapsed")) {
        assertThat(application.response("/actuator/nativememory" + view).statusCode())
            .as(view)
            .isEqualTo(404);
      }
      assertThat(application.post(TRIM)).isEqualTo(404);
    }
  }
}
