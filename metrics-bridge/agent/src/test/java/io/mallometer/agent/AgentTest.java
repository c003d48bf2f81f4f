package io.mallometer.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mallometer.ChildJvm;
import io.mallometer.ChildJvm.Result;
import io.mallometer.Published;
import io.mallometer.SimulatedCheckpoints;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs applications under the agent, in JVMs of their own. */
@Tag("process")
class AgentTest {

  private static final Path LIBRARY = Path.of(System.getProperty("library"));
  private static final String JAR = System.getProperty("agent.jar");
  private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

  @TempDir private Path cache;

  @Test
  void anApplicationWithPreloadIsScrapedAndRecorded() throws Exception {
    Path recording = cache.resolve("recording");
    int port = freePort();
    Result result =
        application("=port=" + port + ",version=2.3.1,recording=" + recording)
            .preload(LIBRARY)
            .runJar(versionedJar(), "" + port);

    assertThat(result.output())
        .contains("waited for the agent=false", "own log manager=true")
        .contains("bean=true", "active=true", "main ends")
        .doesNotContain("recording is off");
    assertThat(recording).hasSize(2 << 20);
    List<Published> scraped = scrape(result);
    assertThat(value(scraped, "mallometer_active")).isEqualTo(1);
    assertThat(value(scraped, "native_malloc_live_bytes")).isGreaterThan(100_000);
    assertThat(value(scraped, "native_malloc_request_size_bytes_count")).isGreaterThan(1_000);
    assertThat(version(scraped)).as("the option overrides the jar's version").isEqualTo("2.3.1");
    assertThat(result.exitCode()).isZero();
  }

  @Test
  void anApplicationWithoutPreloadRunsAndSaysWhy() throws Exception {
    int port = freePort();
    Result result = application("=attach=off,port=" + port).run(Application.class, "" + port);

    assertThat(result.output())
        .contains(
            "mallometer: UNAVAILABLE (the library is not preloaded): mallometer's command line"
                + " (attach PID) starts counting; to count from the start: ")
        .contains("LD_PRELOAD=")
        .contains("bean=true", "active=false", "allocations=null", "main ends");
    List<Published> scraped = scrape(result);
    assertThat(value(scraped, "mallometer_active")).isZero();
    assertThat(scraped).noneMatch(sample -> sample.name().startsWith("native_"));
  }

  @Test
  void anApplicationWithoutPreloadIsAttachedTo() throws Exception {
    int port = freePort();
    Result result =
        application("=port=" + port)
            .environment("MALLOMETER_ATTACH", "on")
            .runJar(versionedJar(), "" + port);

    assertThat(result.output())
        .containsPattern(
            "mallometer: \\S+ counts native memory since \\S+ \\S+ UTC \\(attached; glibc"
                + " [\\d.]+\\);"
                + " [\\d.]+ MiB \\+/- \\S+ (?:[KM]i)?B were allocated before the attach; http://")
        .contains("bean=true", "active=true", "main ends");
    List<Published> scraped = scrape(result);
    assertThat(value(scraped, "mallometer_active")).isEqualTo(1);
    assertThat(value(scraped, "native_malloc_live_bytes")).isGreaterThan(1_000_000);
    assertThat(version(scraped)).isEqualTo("4.5.6");
    assertThat(result.exitCode()).isZero();
  }

  /**
   * Returns a jar that runs {@link Application} and has the version 4.5.6. The agent's jar has
   * another version, and is on the application's class path too.
   */
  private Path versionedJar() throws IOException {
    Manifest manifest = new Manifest();
    Attributes attributes = manifest.getMainAttributes();
    attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    attributes.put(Attributes.Name.IMPLEMENTATION_VERSION, "4.5.6");
    attributes.put(Attributes.Name.MAIN_CLASS, Application.class.getName());
    attributes.put(
        Attributes.Name.CLASS_PATH,
        Application.class.getProtectionDomain().getCodeSource().getLocation().toString());
    Path jar = cache.resolve("app.jar");
    new JarOutputStream(Files.newOutputStream(jar), manifest).close();
    return jar;
  }

  @Test
  @Tag("any-jdk")
  void anOperatorForbidsToAttachWhateverTheOptionSays() {
    Result result =
        application("=attach=true").environment("MALLOMETER_ATTACH", "off").run(Application.class);

    assertThat(result.output())
        .contains(
            "mallometer: UNAVAILABLE (not attached: MALLOMETER_ATTACH=off): Start without"
                + " MALLOMETER_ATTACH=off\n")
        .contains("active=false", "main ends")
        .containsOnlyOnce("mallometer: ");
    assertThat(result.exitCode()).isZero();
  }

  @Test
  @Tag("any-jdk")
  void failuresWhileTheJvmEndsAreNotLogged() {
    Result result =
        application("").environment("MALLOMETER_ENABLED", "off").run(FailsAtItsEnd.class);

    assertThat(result.output())
        .contains("mallometer: fails while it runs", "the hook ends")
        .doesNotContain("fails while it ends");
  }

  @Test
  void withoutArgumentThereIsTheMBeanOnlyAndNoLibraryIsSeen() {
    Result result = application("").preload(LIBRARY).run(Application.class);

    assertThat(result.output())
        .contains("waited for the agent=false", "own log manager=true")
        .contains("bean=true", "active=true", "main ends")
        .containsOnlyOnce("mallometer: ")
        .containsPattern("mallometer: \\S+ counts native memory \\(glibc [\\d.]+\\)\n")
        .contains("sees com.sun.jna.Native=false")
        .contains("sees io.prometheus.client.Collector=false")
        .contains("sees io.mallometer.Mallometer=false");
  }

  @Test
  void anOptionWithoutEffectIsOneLineWithTheRemedyAndPortZeroAFreePort() {
    Result result =
        application("=push.interval=30s,port=0").preload(LIBRARY).run(Application.class);

    assertThat(result.output())
        .containsOnlyOnce(
            "mallometer: push.interval has no effect without push.url: set push.url, or remove"
                + " push.interval\n")
        .containsPattern("; (http://127\\.0\\.0\\.1:[1-9]\\d*)/metrics, page at \\1/\n")
        .contains("active=true", "main ends");
  }

  /**
   * The agent must not load JMX, because that takes 0.25 s of CPU time and starts the JDK's
   * logging. Without options it must not load classes for pushes, not even to verify its own.
   */
  @Test
  void jmxIsNotUsedUntilTheApplicationUsesIt() {
    Path loaded = cache.resolve("loaded.log");
    Result result =
        application("")
            .options("-XX:+BytecodeVerificationRemote", "-Xlog:class+load:file=" + loaded)
            .preload(LIBRARY)
            .run(UsesJmxLate.class, loaded.toString());

    assertThat(result.output())
        .contains("read=true", "JMX used=false", "own log manager=true", "heap known=true")
        .as("records are read by reflection only when a figure is requested")
        .contains("figures described=false");
    assertThat(loaded)
        .content()
        .contains(
            "io.mallometer.agent.payload.AgentSettings ",
            "io.mallometer.agent.payload.LateRegistration ")
        .doesNotContain("io.mallometer.push.", "OtlpPush", "payload.Entry$$Lambda");
  }

  @Test
  void theApplicationMayBringTheSameLibraries() {
    Result result =
        new ChildJvm()
            .environment("XDG_CACHE_HOME", cache.toString())
            .options("-javaagent:" + JAR)
            .preload(LIBRARY)
            .run(Application.class);

    assertThat(result.output())
        .contains("sees com.sun.jna.Native=true", "sees io.mallometer.Mallometer=true")
        .contains("active=true", "main ends");
  }

  @Test
  @Tag("any-jdk")
  void aTakenPortIsOneLine() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, LOOPBACK)) {
      Result result =
          application("=port=" + taken.getLocalPort()).preload(LIBRARY).run(Application.class);

      assertThat(result.output().lines().filter(line -> line.startsWith("mallometer:")))
          .singleElement()
          .asString()
          .contains("cannot serve metrics on 127.0.0.1:" + taken.getLocalPort() + ": ")
          .endsWith("; choose another port, or port=0 for any that is free");
      assertThat(result.output()).doesNotContain("\tat ").contains("active=true", "main ends");
      assertThat(result.exitCode()).isZero();
    }
  }

  /** If the port is taken at a restore, the server tries again only at the next restore. */
  @Test
  @Tag("any-jdk")
  void atACheckpointNothingIsOpenAndAfterItMetricsAreServed() throws Exception {
    int port = freePort();
    Result result =
        new ChildJvm()
            .environment("XDG_CACHE_HOME", cache.toString())
            .options(SimulatedCheckpoints.option(cache.resolve("crac")))
            .options(
                "-javaagent:%s=port=%d,recording=%s"
                    .formatted(JAR, port, cache.resolve("a.recording")))
            .preload(LIBRARY)
            .run(CheckpointedApplication.class, "" + port);

    assertThat(result.output())
        .containsPattern("open before: \\[.*eventfd.*eventpoll.*, mem, pagemap(, socket:\\S+){4}]")
        .contains("closed: true")
        .containsPattern("open meanwhile: \\[socket:[^,]*]\n") // java.nio keeps one socket
        .containsPattern("scraped after: .*, mallometer_active 1\\.0]")
        .containsPattern("open after: \\[.*eventfd.*eventpoll.*, mem, pagemap(, socket:\\S+){2}]")
        .containsOnlyOnce(
            "mallometer: cannot serve metrics on http://127.0.0.1:"
                + port
                + " after the checkpoint: Address already in use; free the port before the restore")
        .doesNotContain("WARNING", "\tat ")
        .contains("main ends");
    assertThat(result.output().split("mallometer: ", -1)).hasSize(3);
    assertThat(result.exitCode()).isZero();
  }

  @Test
  @Tag("any-jdk")
  void aBadArgumentIsOneLine() {
    Result result = application("=prot=9464").preload(LIBRARY).run(Application.class);

    assertThat(result.output())
        .contains(
            "mallometer: not started: unknown option \"prot\"; the options are enabled, "
                + "attach, recording")
        .doesNotContain("\tat ")
        .contains("bean=false", "main ends");
    assertThat(result.exitCode()).isZero();
  }

  @Test
  @Tag("any-jdk")
  void theOptionEnabledMeansWhatTheVariableMeans() {
    Result result = application("=enabled=off,port=0").preload(LIBRARY).run(Application.class);

    assertThat(result.output())
        .contains(
            "mallometer: not started: the option enabled is off\n", "bean=false", "main ends");
    assertThat(result.exitCode()).isZero();
  }

  @Test
  void aMissingModuleIsOneLine() {
    assertThat(lineWithin("java.management,java.logging"))
        .contains(" counts native memory ")
        .endsWith(
            "; the breakdown does not show the Java heap separately: the module jdk.management is"
                + " missing. Add --add-modules jdk.management to the java command, or to the jlink"
                + " command that made this runtime");
  }

  private String lineWithin(String modules) {
    Result result =
        application("")
            .preload(LIBRARY)
            .options("--limit-modules=java.instrument," + modules)
            .run(Application.class);

    assertThat(result.output()).contains("main ends");
    assertThat(result.exitCode()).isZero();
    List<String> lines =
        result.output().lines().filter(line -> line.startsWith("mallometer:")).toList();
    assertThat(lines).hasSize(1);
    return lines.get(0);
  }

  @Test
  @Tag("any-jdk")
  void theKillSwitchIsOneLine() throws Exception {
    Result result =
        application("=port=" + freePort())
            .environment("MALLOMETER_ENABLED", "off")
            .preload(LIBRARY)
            .run(Application.class);

    assertThat(result.output().lines().filter(line -> line.startsWith("mallometer:")))
        .containsExactly(
            "mallometer: not started: MALLOMETER_ENABLED=off. Start the application without this"
                + " variable to use mallometer");
    assertThat(result.output()).contains("bean=false", "main ends");
    assertThat(result.exitCode()).isZero();
  }

  @Test
  void aJvmWithFewModulesIsOneLine() {
    Result result =
        application("=port=0")
            .options("--limit-modules", "java.base,java.instrument")
            .preload(LIBRARY)
            .run(LivedASecond.class);

    assertThat(result.output())
        .isEqualToNormalizingNewlines(
            "mallometer: not started: the module java.logging is missing. Add --add-modules"
                + " java.logging,java.management to the java command, or to the jlink command that"
                + " made this runtime\nmain ends\n");
  }

  @Test
  @Tag("any-jdk")
  void theLineIsNoneOfTheApplicationsOwn() {
    Result result = application("").preload(LIBRARY).run(HasItsOwnErrors.class);

    assertThat(result.output())
        .containsPattern("mallometer: \\S+ counts native memory \\(glibc [\\d.]+\\)\n")
        .contains("own errors=\n");
  }

  /** The agent must not throw an exception, because the JVM would exit then. */
  @Test
  void aSecurityManagerThatForbidsItIsOneLine() throws Exception {
    assumeTrue(Runtime.version().feature() < 24, "this JDK has no security manager");
    URI own = Application.class.getProtectionDomain().getCodeSource().getLocation().toURI();
    Path policy =
        Files.writeString(
            cache.resolve("policy"),
            "grant codeBase \"" + own + "-\" { permission java.security.AllPermission; };");
    Result result =
        application("")
            .options("-Djava.security.manager", "-Djava.security.policy==" + policy)
            .preload(LIBRARY)
            .run(Application.class);

    assertThat(result.output().lines().filter(line -> line.startsWith("mallometer:")))
        .singleElement()
        .asString()
        .startsWith("mallometer: not started: a security manager forbids it: access denied ")
        .contains("Grant java.security.AllPermission to the agent's jar");
    assertThat(result.output()).contains("main ends");
    assertThat(result.exitCode()).isZero();
  }

  /**
   * The agent loads its native code from a named module. The warning that JDK 24 and newer print
   * must therefore name only the application, which loads native code from an unnamed module.
   */
  @Test
  @Tag("any-jdk")
  void theWarningOfNativeAccessIsTheApplicationsOwn() {
    for (Path jdk : jdksThatWarnOfNativeAccess()) {
      Result result =
          application("")
              .java(jdk)
              .preload(LIBRARY)
              .run(LoadsNativeCode.class, jdk.resolve("lib/libprefs.so").toString());

      assertThat(result.output())
          .contains("counts native memory", "main ends")
          .containsOnlyOnce("WARNING: A restricted method")
          .containsPattern(
              "WARNING: .* has been called by \\S+LoadsNativeCode in an unnamed module");
    }
  }

  @Test
  @Tag("any-jdk")
  void nativeAccessThatIsDeniedStaysDenied() {
    for (Path jdk : jdksThatWarnOfNativeAccess()) {
      Result result =
          application("")
              .java(jdk)
              .options("--illegal-native-access=deny")
              .preload(LIBRARY)
              .run(Application.class);

      assertThat(result.output())
          .contains(
              "mallometer: UNAVAILABLE (native access is denied): Add"
                  + " --enable-native-access=ALL-UNNAMED to the java command")
          .contains("main ends")
          .doesNotContain("WARNING");
    }
  }

  private static List<Path> jdksThatWarnOfNativeAccess() {
    List<Path> jdks = ChildJvm.jdksSince(24);
    assumeTrue(!jdks.isEmpty(), "no JDK 24 or newer, which can warn of native access");
    return jdks;
  }

  private ChildJvm application(String options) {
    return new ChildJvm()
        .environment("XDG_CACHE_HOME", cache.toString())
        .withoutClassPath(".jar")
        .withoutClassPath("/core/")
        .withoutClassPath("/agent/target/classes")
        .options("-javaagent:" + JAR + options);
  }

  private static List<Published> scrape(Result result) {
    String exposition =
        result.output().substring(result.output().indexOf("# HELP")).replace("main ends", "");
    return Published.parse(exposition);
  }

  private static double value(List<Published> samples, String name) {
    return sample(samples, name).value();
  }

  private static String version(List<Published> samples) {
    return sample(samples, "mallometer_application_info").labels().get("version");
  }

  private static Published sample(List<Published> samples, String name) {
    return samples.stream().filter(sample -> sample.name().equals(name)).findFirst().orElseThrow();
  }

  static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, LOOPBACK)) {
      return socket.getLocalPort();
    }
  }
}
