package io.mallometer.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Checks the licences and notices that the jars must carry for the libraries inside. */
@Tag("any-jdk")
class LicencesTest {

  private static final Path AGENT = Path.of(System.getProperty("agent.jar"));
  private static final String LICENCE = "META-INF/LICENSE";
  private static final String NOTICE = "META-INF/NOTICE";
  private static final String OF_JNA = "META-INF/licenses/jna/";

  private static Map<String, String> agent;
  private static Map<String, String> payload;

  @BeforeAll
  static void read() throws IOException {
    agent = entries(Files.newInputStream(AGENT));
    payload = nested("mallometer-payload.jar");
  }

  @Test
  void everyJarOfTheProjectCarriesLicenceAndNotice() throws IOException {
    List<Path> jars = new ArrayList<>(List.of(AGENT));
    for (String entry : System.getProperty("java.class.path").split(":")) {
      if (entry.matches(".*/mallometer-(interposer|metrics-bridge)-[^/]*(?<!tests)\\.jar")) {
        jars.add(Path.of(entry));
      }
    }

    assertThat(jars).hasSize(3);
    for (Path jar : jars) {
      Map<String, String> entries = entries(Files.newInputStream(jar));
      assertThat(entries).as(jar.toString()).containsKeys(LICENCE, NOTICE);
      assertThat(entries.get(LICENCE)).contains("Apache License", "Version 2.0");
      assertThat(entries.get(NOTICE)).startsWith("mallometer\n");
    }
  }

  @Test
  void theNoticeNamesEveryLibraryInTheAgent() {
    Map<String, String> prefixes =
        Map.of(
            "com/sun/jna/", "net.java.dev.jna:jna",
            "io/prometheus/client/", "io.prometheus:simpleclient",
            "io/prometheus/client/exporter/common/", "simpleclient_common",
            "io/prometheus/client/exemplars/tracer/common/", "simpleclient_tracer_common",
            "io/prometheus/client/exemplars/tracer/otel/", "simpleclient_tracer_otel",
            "io/prometheus/client/exemplars/tracer/otel_agent/", "simpleclient_tracer_otel_agent",
            "org/jspecify/", "org.jspecify:jspecify",
            "com/sun/jna/linux-x86-64/libjnidispatch.so", "libffi");
    List<String> others =
        payload.keySet().stream()
            .filter(name -> !name.startsWith("META-INF/") && !name.startsWith("io/mallometer/"))
            .filter(name -> !name.contains("/libmallometer."))
            .toList();

    checkNotice(prefixes, others);
  }

  @Test
  void jnasLicencesAreThereUnderTheirOwnNames() {
    for (Map<String, String> entries : List.of(agent, payload)) {
      assertThat(entries.get(OF_JNA + "LICENSE")).contains("Apache-2.0 OR LGPL-2.1-or-later");
      assertThat(entries.get(OF_JNA + "LGPL2.1")).contains("GNU LESSER GENERAL PUBLIC LICENSE");
      assertThat(entries.get(OF_JNA + "AL2.0")).contains("Apache License");
    }
  }

  @Test
  void nothingInThePayloadsMetaInfIsOneOfSeveral() {
    assertThat(payload.keySet())
        .filteredOn(name -> name.startsWith("META-INF/"))
        .filteredOn(name -> !name.startsWith("META-INF/maven/io.mallometer/mallometer-agent/"))
        .containsExactlyInAnyOrder(
            "META-INF/MANIFEST.MF",
            LICENCE,
            NOTICE,
            OF_JNA + "LICENSE",
            OF_JNA + "LGPL2.1",
            OF_JNA + "AL2.0");
    assertThat(payload.get(LICENCE)).doesNotContain("JNA");
  }

  @Test
  void theNoticeNamesTheLibrariesOfTheCommandLine() throws IOException {
    Map<String, String> prefixes =
        Map.of(
            "picocli/", "info.picocli:picocli",
            "com/google/gson/", "com.google.code.gson:gson",
            "org/jline/", "org.jline:jline-terminal");
    List<String> others =
        nested("mallometer-commands.jar").keySet().stream()
            .filter(name -> !name.startsWith("META-INF/") && !name.startsWith("io/mallometer/"))
            .toList();

    checkNotice(prefixes, others);
  }

  /**
   * The agent's jar is on the application's class path, so only the nested jars may contain
   * libraries.
   */
  @Test
  void theApplicationSeesNoLibraryOfTheAgent() {
    assertThat(agent.keySet())
        .filteredOn(name -> name.endsWith(".class"))
        .isNotEmpty()
        .allMatch(name -> name.startsWith("io/mallometer/agent/"));
  }

  /** Checks that each file belongs to a library that has files, and that the notice names it. */
  private static void checkNotice(Map<String, String> prefixes, List<String> files) {
    assertThat(files)
        .allMatch(name -> prefixes.keySet().stream().anyMatch(prefix -> name.startsWith(prefix)));
    assertThat(prefixes.keySet())
        .allMatch(prefix -> files.stream().anyMatch(name -> name.startsWith(prefix)));
    assertThat(agent.get(NOTICE)).contains(prefixes.values());
  }

  private static Map<String, String> nested(String name) throws IOException {
    byte[] jar = agent.get(name).getBytes(StandardCharsets.ISO_8859_1);
    return entries(new ByteArrayInputStream(jar));
  }

  /** Returns the files of a jar by name, decoded as ISO 8859-1. */
  private static Map<String, String> entries(InputStream jar) throws IOException {
    Map<String, String> entries = new HashMap<>();
    try (ZipInputStream input = new ZipInputStream(jar)) {
      for (ZipEntry entry = input.getNextEntry(); entry != null; entry = input.getNextEntry()) {
        if (!entry.isDirectory()) {
          String content = new String(input.readAllBytes(), StandardCharsets.ISO_8859_1);
          assertThat(entries.put(entry.getName(), content)).as(entry.getName()).isNull();
        }
      }
    }
    return entries;
  }
}
