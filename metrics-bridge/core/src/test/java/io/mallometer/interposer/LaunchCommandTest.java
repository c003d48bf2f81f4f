package io.mallometer.interposer;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class LaunchCommandTest {

  private static final Path LIBRARY = Path.of("/cache/libmallometer.so");

  private static String line(String program, String... words) {
    return LaunchCommand.parse(String.join("\0", words) + "\0", program)
        .preloading(LIBRARY, "", false);
  }

  @Test
  void jarIsStartedAgainWithItsOptions() {
    assertThat(
            line(
                "app.jar --server.port=8081",
                "java",
                "-Xmx64m",
                "-jar",
                "app.jar",
                "--server.port=8081"))
        .isEqualTo(
            "LD_PRELOAD=/cache/libmallometer.so java -Xmx64m -jar app.jar --server.port=8081");
  }

  @Test
  void mainClassIsStartedAgainWithItsClassPath() {
    assertThat(line("com.acme.App", "/opt/jdk/bin/java", "-cp", "lib/*:app", "com.acme.App"))
        .isEqualTo(
            "LD_PRELOAD=/cache/libmallometer.so /opt/jdk/bin/java -cp 'lib/*:app' com.acme.App");
  }

  @Test
  void jarInADirectoryWithASpaceIsQuoted() {
    assertThat(line("my app/it's.jar", "java", "-jar", "my app/it's.jar"))
        .endsWith(" java -jar 'my app/it'\\''s.jar'");
  }

  @Test
  void nativeAccessIsAllowedOnceWhereTheJdkWantsIt() {
    LaunchCommand plain = LaunchCommand.parse("java\0-jar\0app.jar\0", "app.jar");
    LaunchCommand allowed =
        LaunchCommand.parse("java\0--enable-native-access=ALL-UNNAMED\0-jar\0app.jar\0", "app.jar");

    String expected =
        "LD_PRELOAD=/cache/libmallometer.so java --enable-native-access=ALL-UNNAMED -jar app.jar";
    assertThat(plain.preloading(LIBRARY, "", true)).isEqualTo(expected);
    assertThat(allowed.preloading(LIBRARY, "", true)).isEqualTo(expected);
  }

  @Test
  void whatIsPreloadedAlreadyIsKeptBehindOurs() {
    LaunchCommand command = LaunchCommand.parse("java\0-jar\0app.jar\0", "app.jar");

    assertThat(command.preloading(LIBRARY, "/lib/libjemalloc.so.2 /gone/libmallometer.so", false))
        .isEqualTo("LD_PRELOAD=/cache/libmallometer.so:/lib/libjemalloc.so.2 java -jar app.jar");
  }

  @Test
  void secretsAreNotRepeated() {
    assertThat(
            line(
                "app.jar hush",
                "java",
                "-Ddb.password=hush",
                "-Dspring.application.json={\"db\":{\"password\":\"hush\"}}",
                "-javaagent:/opt/a.jar=token=hush",
                "-XX:OnOutOfMemoryError=curl -H hush host",
                "-jar",
                "app.jar",
                "--spring.datasource.url=jdbc:oracle:thin:scott/hush@//db/x",
                "--acme.name=a\nhush",
                "-phush",
                "--jdbc:hush@host",
                "hush"))
        .isEqualTo(
            "LD_PRELOAD=/cache/libmallometer.so java '-Ddb.password=***'"
                + " '-Dspring.application.json=***' '-javaagent:/opt/a.jar=***'"
                + " '-XX:OnOutOfMemoryError=***' -jar app.jar '--spring.datasource.url=***'"
                + " '--acme.name=***' ...");
  }

  @Test
  void whatCannotBeSecretIsRepeated() {
    String[] words = {
      "java",
      "-XX:MaxRAMPercentage=50",
      "-Xlog:gc*=info",
      "-ea",
      "-Dserver.port=8081",
      "-Dacme.fast",
      "-Dacme.cold=false",
      "--add-opens=java.base/java.lang=ALL-UNNAMED",
      "--module-path",
      "lib",
      "-cp",
      "app",
      "com.acme.App",
      "--spring.profiles.active=prod,eu",
      "--acme.verbose=true",
      "--debug"
    };

    assertThat(line("com.acme.App --debug", words).replace("'", ""))
        .isEqualTo("LD_PRELOAD=/cache/libmallometer.so " + String.join(" ", words));
  }

  @Test
  void moreOptionsGoBeforeThoseThatAreThere() {
    LaunchCommand command =
        LaunchCommand.parse(
            "java\0-Djna.tmpdir=/noexec\0--enable-native-access=acme\0-jar\0app.jar\0", "app.jar");

    assertThat(
            command.withOptions(
                "/lib/libmallometer.so:/lib/libjemalloc.so.2",
                List.of("-Djna.tmpdir=/my tmp", LaunchCommand.ALLOW_NATIVE_ACCESS)))
        .isEqualTo(
            "LD_PRELOAD=/lib/libmallometer.so:/lib/libjemalloc.so.2 java '-Djna.tmpdir=/my tmp'"
                + " --enable-native-access=ALL-UNNAMED --enable-native-access=acme -jar app.jar");
    assertThat(command.withOptions("", List.of())).startsWith("java '-Djna.tmpdir=***'");
  }

  @Test
  void anUnknownOrEndlessCommandIsLeftToTheReader() {
    String expected = "LD_PRELOAD=/cache/libmallometer.so java ...";

    assertThat(line("", "")).isEqualTo(expected);
    assertThat(line("launcher.Main App.java", "java", "App.java")).isEqualTo(expected);
    assertThat(line("com.acme.App", "/usr/bin/launcher", "com.acme.App")).isEqualTo(expected);
    assertThat(line("com.acme.App", "java", "-cp", "x".repeat(1000), "com.acme.App"))
        .isEqualTo(expected);
  }
}
