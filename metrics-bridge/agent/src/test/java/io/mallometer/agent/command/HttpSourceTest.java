package io.mallometer.agent.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HttpSourceTest {

  private static final Duration TIMEOUT = Duration.ofMinutes(1);

  private HttpServer server;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private void answer(String path, int status, String type, String body) {
    server.createContext(
        path,
        exchange -> {
          byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
          exchange.getResponseHeaders().set("Content-Type", type);
          exchange.sendResponseHeaders(status, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
  }

  private HttpSource source(String path) throws Failure {
    return new HttpSource("http://127.0.0.1:" + server.getAddress().getPort() + path, "", TIMEOUT);
  }

  @Test
  void theEndpointIsFoundBelowActuator() throws Exception {
    answer("/", 200, "text/html", "<html>the shop</html>");
    answer("/actuator/nativememory", 200, "application/vnd.spring-boot+json", "{\"state\":\"A\"}");

    for (String path : new String[] {"", "/", "/actuator", "/actuator/nativememory/"}) {
      HttpSource source = source(path);
      assertThat(source.get("nativememory").json().at("state").text()).as(path).isEqualTo("A");
      assertThat(source.name()).as(path).endsWith("/actuator/nativememory");
    }
  }

  @Test
  void anAgentIsFoundBelowItsAddress() throws Exception {
    answer("/nativememory", 200, "application/json", "{\"state\":\"A\"}");

    assertThat(source("").get("nativememory").json().at("state").text()).isEqualTo("A");
  }

  @Test
  void whereThereIsNeitherTheFailureNamesTheAddress() throws Exception {
    HttpSource source = source("");

    assertThatExceptionOfType(Failure.class)
        .isThrownBy(() -> source.get("breakdown"))
        .withMessageContaining("/nativememory answered with status 404");
  }

  @Test
  void anAnswerThatIsCutOffSaysWhatToDo(@TempDir Path directory) {
    answer("/nativememory", 200, "application/json", "{}");
    server.createContext(
        "/nativememory/evidence",
        exchange -> {
          exchange.sendResponseHeaders(200, 0);
          exchange.getResponseBody().write(1);
          exchange.getResponseBody().flush();
          throw new IOException("killed"); // the server closes the connection
        });
    String address = "http://127.0.0.1:" + server.getAddress().getPort();
    PrintStream before = System.err;
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
    try {
      String file = directory.resolve("evidence.zip").toString();
      assertThat(Commands.run(List.of("bundle", address, "-o", file), Commands.version()))
          .isEqualTo(ExitCode.FAILED);
    } finally {
      System.setErr(before);
      Thread.currentThread().setContextClassLoader(loader);
    }
    assertThat(printed.toString(StandardCharsets.UTF_8))
        .contains(
            "mallometer: the answer is cut off; if the process was killed, read its recording");
    assertThat(directory).isEmptyDirectory();
  }
}
