package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.json.JsonParserFactory;

/** Who may trim, by which method, and where, with the library preloaded. */
@Tag("access")
class EndpointAccessTest {

  private static final String OVERVIEW = "/actuator/nativememory/overview";
  private static final String TRIM = "/actuator/nativememory/trim";
  private static final String UNRESTRICTED =
      "--management.endpoint.nativememory.access=unrestricted";

  private static final String AT_ANY_TIME = "--mallometer.trim.minimum-interval=0s";

  @Test
  void nobodyMayTrimUnlessItIsAllowed() {
    try (RunningApplication application = RunningApplication.start()) {
      assertThat(application.get("/actuator/nativememory/allocator")).contains("\"kind\"");
      assertThat(application.get("/actuator/nativememory/sites")).contains("\"matching\"");
      assertThat(application.get(OVERVIEW)).contains("\"trimAllowed\":false");
      assertThat(application.get("/actuator/nativememory/page")).contains("<title>Native memory");
      assertThat(application.post(TRIM)).isEqualTo(405);
      assertThat(application.response(TRIM).statusCode()).isEqualTo(404);
    }
  }

  @Test
  void whoeverReachesTheEndpointMayTrimWhereItIsAllowed() {
    try (RunningApplication application = RunningApplication.start(UNRESTRICTED, AT_ANY_TIME)) {
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
              "tookSeconds",
              "nextPossible");
      assertThat(application.response(TRIM).statusCode()).isEqualTo(404);
      assertThat(application.post("/actuator/nativememory/breakdown")).isEqualTo(404);
      assertThat(application.post("/actuator/nativememory")).isEqualTo(405);
      assertThat(application.send("PUT", "local.server.port", TRIM).statusCode()).isEqualTo(405);
    }
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
      aSecondTrimIsRefused();
    }
  }

  /** One process has one allocator, whichever of its contexts trimmed it. */
  private static void aSecondTrimIsRefused() {
    try (RunningApplication second =
        RunningApplication.start(UNRESTRICTED, "--mallometer.trim.minimum-interval=1h")) {
      HttpResponse<String> answer = second.send("POST", "local.server.port", TRIM);
      assertThat(answer.statusCode()).isEqualTo(429);
      assertThat(answer.body()).contains("\"outcome\":\"REFUSED\"", "possible again in 3");
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
