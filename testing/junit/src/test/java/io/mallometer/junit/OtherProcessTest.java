package io.mallometer.junit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import javax.management.MBeanServerConnection;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;

/** Tests here measure a service in a JVM of its own. */
class OtherProcessTest {

  private static Process service;
  private static String address;
  private static JMXConnector connector;
  private static MBeanServerConnection beans;

  @BeforeAll
  static void start() throws IOException {
    service =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Service.class.getName())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    BufferedReader said =
        new BufferedReader(new InputStreamReader(service.getInputStream(), StandardCharsets.UTF_8));
    String[] words = said.readLine().split(" ");
    address = "http://127.0.0.1:" + words[0];
    connector = JMXConnectorFactory.connect(new JMXServiceURL(words[1]));
    beans = connector.getMBeanServerConnection();
  }

  @AfterAll
  static void end() throws IOException {
    connector.close();
    service.getOutputStream().close();
    service.destroy();
  }

  private static void request(String path) {
    try (InputStream answer = URI.create(address + path).toURL().openStream()) {
      assertThat(answer.readAllBytes()).hasSize(1);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static class OverHttp {
    @RegisterExtension
    static final OtherProcess SERVICE = OtherProcess.overHttp(() -> address + "/nativememory");

    @Test
    @ExpectNoNativeGrowth
    void leaks() {
      request("/leak");
    }

    @Test
    @ExpectNoNativeGrowth(perIteration = 1 << 20)
    void isClean() {
      request("/clean");
    }
  }

  static class OverJmx {
    @RegisterExtension static final OtherProcess SERVICE = OtherProcess.overJmx(() -> beans);

    @Test
    @ExpectNoNativeGrowth
    void leaks() {
      request("/leak");
    }

    @Test
    @ExpectNoNativeGrowth(perIteration = 1 << 20)
    void isClean() {
      request("/clean");
    }
  }

  static class Nowhere {
    @RegisterExtension
    static final OtherProcess SERVICE = OtherProcess.overHttp(() -> "http://127.0.0.1:1/");

    @Test
    @ExpectNoNativeGrowth
    void isNotMeasured() {}
  }

  private static void check(Map<String, TestExecutionResult> ended) {
    assertThat(ended.get("isClean").getStatus()).isEqualTo(Status.SUCCESSFUL);
    assertThat(ended.get("leaks").getStatus()).isEqualTo(Status.FAILED);
    assertThat(ended.get("leaks").getThrowable().orElseThrow())
        .hasMessageMatching("(?s)Native memory grows by \\d.*")
        .hasMessageContaining(": all of another process, HotSpot's own memory included.");
  }

  @Test
  void leakOfAServiceIsFoundOverHttp() {
    check(Engine.run(OverHttp.class));
  }

  @Test
  void leakOfAServiceIsFoundOverJmx() {
    check(Engine.run(OverJmx.class));
  }

  @Test
  void serviceThatDoesNotAnswerFailsTheTest() {
    TestExecutionResult result = Engine.run(Nowhere.class).get("isNotMeasured");
    assertThat(result.getStatus()).isEqualTo(Status.FAILED);
    assertThat(result.getThrowable().orElseThrow())
        .hasMessageContaining("Native memory is not counted: the other process does not answer");
  }
}
