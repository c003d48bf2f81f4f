package io.mallometer.agent.payload;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.mallometer.ChildJvm;
import io.mallometer.KnowsEverything;
import io.mallometer.Promtool;
import io.mallometer.PublicNames;
import io.mallometer.Published;
import io.mallometer.ShownNames;
import io.mallometer.agent.command.ReportNames;
import io.mallometer.internal.history.Recordings;
import io.mallometer.model.Setting;
import io.mallometer.program.DeflaterLeak;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Checks that the file of public names lists exactly the names that the agent publishes. A second
 * server has a fake library ({@link KnowsEverything}), so it publishes every possible metric.
 */
@Tag("process")
@Tag("any-jdk")
class AgentNamesTest {

  private static final Path LIBRARY = Path.of(System.getProperty("library"));
  private static final Path JAR = Path.of(System.getProperty("agent.jar"));
  private static final Pattern OURS = Pattern.compile("(native|cgroup|mallometer)_.*");
  private static final Pattern VARIABLE = Pattern.compile("MALLOMETER_[A-Z_]+");
  private static final Pattern HEADER = Pattern.compile("X-Mallometer[A-Za-z-]*");
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  @TempDir private static Path directory;

  private static Process application;
  private static String counting;
  private static KnowsEverything everything;
  private static AgentServer server;

  @BeforeAll
  static void start() throws Exception {
    int port = freePort();
    counting = "http://127.0.0.1:" + port;
    application =
        java(
                "-javaagent:" + JAR + "=allow-trim=true,allow-owners=true,port=" + port,
                "-cp",
                "target/test-classes",
                DeflaterLeak.class.getName())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("output").toFile())
            .start();
    everything = new KnowsEverything(Recordings.grownToTheLimit(directory.resolve("recording")));
    server = AgentServer.start(everything.mallometer(), Given.server(Map.of()));
    assertThat(ChildJvm.await(AgentNamesTest::isHealthy)).isTrue();
  }

  private static ProcessBuilder java(String... arguments) {
    List<String> command = new ArrayList<>(List.of(arguments));
    command.add(0, "-XX:TieredStopAtLevel=1");
    command.add(0, Path.of(System.getProperty("java.home"), "bin", "java").toString());
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("LD_PRELOAD", LIBRARY.toString());
    builder.environment().put("XDG_CACHE_HOME", directory.toString());
    return builder;
  }

  private static boolean isHealthy() throws InterruptedException {
    try {
      send(counting, "GET", "/-/healthy");
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  @AfterAll
  static void stop() throws InterruptedException {
    server.close();
    everything.close();
    application.destroyForcibly().waitFor();
  }

  @Test
  void series() {
    check("series", base -> series(base, true));
  }

  @Test
  void seriesOfTheAgentAlone() {
    check("series of the agent", base -> series(base, false));
  }

  @Test
  void prometheusOwnLinterHasNothingToSay() throws Exception {
    Promtool.assumeIsThere();
    for (String base : List.of(counting, server.address())) {
      assertThat(Promtool.complaintsAboutOurs(body(base, "/metrics"))).as(base).isEmpty();
    }
  }

  private static void check(String section, Function<String, Collection<String>> names) {
    PublicNames.check(
        section,
        PublicNames.await(section, () -> names.apply(counting)),
        names.apply(server.address()));
  }

  private static Collection<String> series(String base, boolean ours) {
    return ShownNames.series(
        Published.parse(body(base, "/metrics")).stream()
            .filter(sample -> OURS.matcher(sample.name()).matches() == ours)
            .toList());
  }

  @Test
  void addresses() throws Exception {
    PublicNames.check("addresses of the agent", server.addresses());
    for (String address : server.addresses()) {
      String asked =
          address.replace("views/{name}", "views/overview,trends").replace("{name}", "breakdown");
      String[] words = asked.split(" ");
      assertThat(send(counting, words[0], words[1]).statusCode())
          .as(address)
          // 400 and 404 refuse "breakdown", which is neither the number nor the name of a site.
          .isIn(
              words[0].equals("POST")
                  ? Set.of(200, 400, 404)
                  : Set.of(address.equals("GET /") ? 302 : 200));
    }
  }

  @Test
  void headers() throws Exception {
    HttpRequest.Builder trim =
        HttpRequest.newBuilder(URI.create(counting + "/nativememory/trim"))
            .header("Sec-Fetch-Site", "cross-site")
            .POST(HttpRequest.BodyPublishers.noBody());
    String refusal = CLIENT.send(trim.build(), BodyHandlers.ofString()).body();
    Set<String> names = new TreeSet<>(found(HEADER, refusal));

    assertThat(names).as(refusal).hasSize(1);
    trim.header(names.iterator().next(), "test");
    assertThat(CLIENT.send(trim.build(), BodyHandlers.ofString()).body())
        .as("the reason for the refusal of a request with the header")
        .contains("it comes from a page of another origin");
    names.addAll(found(HEADER, body(counting, "/nativememory/page")));
    addFound(names, HEADER, Files.readAllBytes(JAR));
    PublicNames.check("headers", names);
  }

  @Test
  void optionsAndCommands() throws Exception {
    Process process =
        java("-javaagent:" + JAR + "=none=1", "-jar", JAR.toString(), "generate-completion")
            .redirectErrorStream(true)
            .start();
    String output = text(process.getInputStream().readAllBytes());
    process.waitFor();
    Matcher options = Pattern.compile("unknown option .*; the options are (.*)").matcher(output);

    assertThat(options.find()).as(output).isTrue();
    PublicNames.check("options of the agent", List.of(options.group(1).split(", ")));
    Set<String> names = new TreeSet<>();
    String command = "";
    for (String line : output.split("\n")) {
      if (line.startsWith("function _picocli_mallometer")) {
        command = line.replaceFirst("function _picocli_(\\w+)\\(.*", "$1").replace('_', ' ');
        names.add(command);
      } else if (line.matches(" +local (flag|arg)_opts=.*")) {
        for (String option : line.replaceAll(".*=|[\"']", "").split(" ")) {
          names.add((command + " " + option).strip());
        }
      }
    }
    PublicNames.check("commands", names);
  }

  @Test
  void reportsInJson() throws Exception {
    Set<String> names = new TreeSet<>();
    ShownNames.addAnswer(
        names, "report", parsed(ReportNames.report(counting, directory.resolve("report.json"))));
    for (String changes : ReportNames.changes()) {
      ShownNames.addAnswer(names, "report", parsed(changes));
    }
    names.removeIf(name -> !name.matches("(report|changes) .*"));
    PublicNames.check("keys in a report in JSON", names);
  }

  @Test
  void environmentVariables() throws Exception {
    Set<String> names = new TreeSet<>(found(VARIABLE, text(Files.readAllBytes(LIBRARY))));
    addFound(names, VARIABLE, Files.readAllBytes(JAR));
    Set<String> settings = new TreeSet<>(Setting.all().stream().map(Setting::variable).toList());
    assertThat(settings)
        .as("the variables in the library and the agent are settings")
        .containsAll(names);
    PublicNames.check("environment variables", settings);
  }

  private static void addFound(Set<String> names, Pattern pattern, byte[] jar) throws IOException {
    try (ZipInputStream entries = new ZipInputStream(new ByteArrayInputStream(jar))) {
      for (ZipEntry entry = entries.getNextEntry(); entry != null; entry = entries.getNextEntry()) {
        byte[] bytes = entries.readAllBytes();
        if (entry.getName().endsWith(".jar")) {
          addFound(names, pattern, bytes);
        } else if (entry.getName().endsWith(".class")) {
          names.addAll(found(pattern, text(bytes)));
        }
      }
    }
  }

  private static String text(byte[] file) {
    return new String(file, StandardCharsets.ISO_8859_1);
  }

  private static List<String> found(Pattern pattern, String text) {
    return pattern.matcher(text).results().map(MatchResult::group).toList();
  }

  private static String body(String base, String path) {
    try {
      return send(base, "GET", path).body();
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(base + path, e);
    }
  }

  private static HttpResponse<String> send(String base, String method, String path)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(base + path))
            .header("X-Mallometer", "test")
            .method(method, HttpRequest.BodyPublishers.noBody())
            .build();
    return CLIENT.send(request, BodyHandlers.ofString());
  }

  private static Object parsed(String json) {
    try {
      return new ObjectMapper().readValue(json, Object.class);
    } catch (JsonProcessingException e) {
      throw new AssertionError(json, e);
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
