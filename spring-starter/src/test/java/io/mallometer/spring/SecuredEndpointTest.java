package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.page.Page;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;

@Tag("secured")
@Tag("any-jdk")
class SecuredEndpointTest {

  private static final String PAGE = "/actuator/nativememory/page";
  private static final String READ = "/actuator/nativememory/allocator";
  private static final String TRIM = "/actuator/nativememory/trim";
  private static final String UNRESTRICTED =
      "--management.endpoint.nativememory.access=unrestricted";
  private static final String[] CREDENTIALS = {
    "Authorization",
    "Basic " + Base64.getEncoder().encodeToString("kim:pass".getBytes(StandardCharsets.ISO_8859_1))
  };

  @Test
  void springBootsOwnRulesLetNobodyInAndNoPostWithoutAToken() {
    try (RunningApplication application =
        RunningApplication.start(
            UNRESTRICTED,
            "--spring.security.user.name=kim",
            "--spring.security.user.password=pass")) {
      assertThat(application.response(READ).statusCode()).isEqualTo(401);
      assertThat(application.response("/actuator/nativememory/flamegraph").statusCode())
          .isEqualTo(401);
      assertThat(application.post(TRIM)).isIn(401, 403);
      assertThat(application.post(TRIM, CREDENTIALS)).isIn(401, 403);
      assertThat(application.send("GET", "local.server.port", READ, CREDENTIALS).statusCode())
          .isEqualTo(200);
    }
  }

  @Test
  void whoMayReadMayNotTrimUnlessTheApplicationSaysSo() throws Exception {
    try (RunningApplication application = withOwnRules("USER")) {
      assertThat(application.response(READ).statusCode()).isEqualTo(401);
      assertThat(application.post(TRIM)).isEqualTo(401);
      assertThat(application.send("GET", "local.server.port", READ, CREDENTIALS).statusCode())
          .isEqualTo(200);
      assertThat(application.post(TRIM, CREDENTIALS)).isEqualTo(403);
    }
  }

  @Test
  void whoMayTrimTrims() throws Exception {
    try (RunningApplication application = withOwnRules("ADMIN")) {
      // 501 shows that the request was admitted, and that the library is absent.
      assertThat(application.post(TRIM, CREDENTIALS)).isEqualTo(501);
      assertThat(application.post("/actuator/nativememory/breakdown", CREDENTIALS)).isEqualTo(404);
    }
  }

  @Test
  void aManagementPortIsAsClosed() throws Exception {
    try (RunningApplication application =
        withOwnRules(
            "USER", "--management.server.port=0", "--management.server.address=127.0.0.1")) {
      assertThat(onManagementPort(application, "GET", READ)).isEqualTo(401);
      assertThat(onManagementPort(application, "POST", TRIM)).isEqualTo(401);
      assertThat(onManagementPort(application, "GET", READ, CREDENTIALS)).isEqualTo(200);
      assertThat(onManagementPort(application, "POST", TRIM, CREDENTIALS)).isEqualTo(403);
      // Jersey may answer 404, because no filter on this port can request a login.
      assertThat(application.response(READ).statusCode()).isIn(401, 404);
      assertThat(application.send("GET", "local.server.port", READ, CREDENTIALS).statusCode())
          .isEqualTo(404);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"session", "cookie"})
  void thePageIsToldTheTokenThatATrimNeeds(String kept) throws Exception {
    try (RunningApplication application =
        withRules(
            "TokenRules",
            "USER",
            "--test.token=" + kept,
            "--management.server.port=0",
            "--management.server.address=127.0.0.1")) {
      HttpResponse<String> page =
          application.send("GET", "local.management.port", PAGE, CREDENTIALS);
      assertThat(page.body()).contains("<title>Native memory</title>");
      Page.Token token = token(page);
      String cookies =
          page.headers().allValues("Set-Cookie").stream()
              .map(cookie -> cookie.split(";")[0])
              .collect(Collectors.joining("; "));

      assertThat(onManagementPort(application, "POST", TRIM, with("Cookie", cookies)))
          .isIn(401, 403);
      // 501 shows that the request was admitted, and that the library is absent.
      assertThat(
              onManagementPort(
                  application,
                  "POST",
                  TRIM,
                  with("Cookie", cookies, token.header(), token.value())))
          .isEqualTo(501);
    }
  }

  private static Page.Token token(HttpResponse<String> page) {
    Matcher meta = Pattern.compile("name=\"csrf-(\\w+)\" content=\"(.*?)\"").matcher(page.body());
    Map<String, String> contents =
        meta.results().collect(Collectors.toMap(one -> one.group(1), one -> one.group(2)));
    HttpHeaders headers = page.headers();
    return contents.isEmpty()
        ? new Page.Token(
            headers.firstValue(Page.TOKEN_NAME_HEADER).orElseThrow(),
            headers.firstValue(Page.TOKEN_HEADER).orElseThrow())
        : new Page.Token(contents.get("header"), contents.get("token"));
  }

  private static String[] with(String... headers) {
    return Stream.concat(Stream.of(CREDENTIALS), Stream.of(headers)).toArray(String[]::new);
  }

  private static int onManagementPort(
      RunningApplication application, String method, String path, String... headers) {
    return application.send(method, "local.management.port", path, headers).statusCode();
  }

  /**
   * The class of the rules is loaded by name, because it needs a web stack that may not be on the
   * class path.
   */
  private static RunningApplication withOwnRules(String role, String... more)
      throws ClassNotFoundException {
    return withRules("Rules", role, more);
  }

  private static RunningApplication withRules(String rules, String role, String... more)
      throws ClassNotFoundException {
    String web = Matrix.servlet() ? "Servlet" : "Reactive";
    SpringApplication spring =
        new SpringApplication(
            TestApplication.class,
            QuickPasswords.class,
            Class.forName(SecuredEndpointTest.class.getPackageName() + "." + web + rules));
    return RunningApplication.start(
        spring,
        Stream.concat(
                Stream.of(
                    UNRESTRICTED,
                    "--spring.security.user.name=kim",
                    "--spring.security.user.password=" + QuickPasswords.PASS,
                    "--spring.security.user.roles=" + role),
                Stream.of(more))
            .toArray(String[]::new));
  }
}
