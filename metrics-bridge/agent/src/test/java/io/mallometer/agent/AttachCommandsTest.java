package io.mallometer.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mallometer.ChildJvm;
import io.mallometer.program.DeflaterLeak;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests how commands reach a JVM, and how they attach to it and detach from it. */
@Tag("process")
class AttachCommandsTest extends ProcessCommands {

  private static final Map<String, String> PRELOADED =
      Map.of("LD_PRELOAD", System.getProperty("library"));

  @Test
  void aJvmWithoutThePreloadIsToldWhatToDo() throws Exception {
    Process plain = application(DeflaterLeak.class, Map.of("MALLOMETER_ATTACH", "on"));
    try {
      String plainPid = Long.toString(plain.pid());
      Result report = call("report", plainPid);
      assertThat(report.exitCode()).isZero();
      assertThat(report.out())
          .contains(
              "UNAVAILABLE: the library is not preloaded", "to count from the start: LD_PRELOAD=")
          .contains("java_heap");
      refuses(7, "no allocator", "trim", plainPid);
      String offer = "not counted; `java -jar %s attach %s` starts now".formatted(JAR, plainPid);
      refuses(7, offer, "leaks", plainPid);
      assertThat(report.out()).contains(offer);
      Result doctor = call("doctor", plainPid);
      assertThat(doctor.exitCode()).isEqualTo(1);
      assertThat(doctor.out()).contains("BAD  counting", offer);
      assertThat(call("top", plainPid, "--count", "1").err()).contains(offer).hasLineCount(1);
      refuses(7, "nothing to detach: native memory is not counted", "detach", plainPid);
    } finally {
      plain.destroyForcibly().waitFor();
    }
  }

  @Test
  @Tag("any-jdk")
  void aJvmIsAttachedToAndDetached() throws Exception {
    Process plain = application(DeflaterLeak.class, Map.of("MALLOMETER_ATTACH", "on"));
    try {
      String plainPid = "" + plain.pid();
      assertThat(attach(plain)).endsWith("next: java -jar " + JAR + " top " + plainPid + "\n");
      report(plain);
      assertThat(call("doctor", plainPid).out())
          .contains("ok   attached", "ok   counting")
          .containsPattern(
              "attachment +\\d+ pointers to malloc lead to mallometer, 0 could not be changed;"
                  + " calls not seen: 0; (glibc's own figure differs by \\S+ [KM]?i?B, up"
                  + " to \\S+ (?:[KM]i)?B is normal|the difference from glibc's own figure is"
                  + " not known); the attach blocked the loading of libraries for"
                  + " \\d+\\.\\d ms\n");
      Result leaks = call("leaks", plainPid);
      assertThat(leaks.out())
          .as(leaks.err())
          .containsPattern("(?m)^attached since \\S+Z: objects from before are not judged; ")
          .doesNotContain("only during this command");
      assertThat(call("attach", plainPid).out()).contains("(attached; ");

      detach(plain);
      refuses(7, "nothing to detach", "detach", plainPid);
      assertThat(call("attach", plainPid).out()).contains("(attached; ");
    } finally {
      plain.destroyForcibly().waitFor();
    }
  }

  @Test
  @Tag("any-jdk")
  void aJvmOfEachOtherJdkIsAttachedToAndDetached() throws Exception {
    List<Path> others = new ArrayList<>(ChildJvm.jdksSince(17));
    others.remove(Path.of(System.getProperty("java.home")));
    assumeTrue(!others.isEmpty(), "no other JDK");
    for (Path jdk : others) {
      Process plain = application(jdk, DeflaterLeak.class, Map.of("MALLOMETER_ATTACH", "on"));
      try {
        attach(plain);
        report(plain);
        detach(plain);
      } finally {
        plain.destroyForcibly().waitFor();
      }
    }
  }

  @Test
  @Tag("any-jdk")
  void anAttachThatIsForbiddenOrNotNeededChangesNothing() throws Exception {
    assertThat(call("attach", pid()).out())
        .containsPattern("counts native memory \\(glibc \\S+\\), from its start on");
    refuses(7, "a preloaded library cannot be detached", "detach", pid());
    Process off = application(DeflaterLeak.class, Map.of("MALLOMETER_ATTACH", "off"));
    try {
      assertThat(call("report", "" + off.pid()).out())
          .contains(
              "what to do: MALLOMETER_ATTACH=off forbids attaching; to count from the start:"
                  + " LD_PRELOAD=")
          .doesNotContain("starts now");
      refuses(
          7,
          "does not count: the library is not preloaded; MALLOMETER_ATTACH=off forbids attaching;",
          "leaks",
          "" + off.pid());
      refuses(
          7,
          "MALLOMETER_ATTACH=off; Start without MALLOMETER_ATTACH=off",
          "attach",
          "" + off.pid());
      assertThat(call("doctor", "" + off.pid()).out())
          .contains("its environment forbids attaching the library: MALLOMETER_ATTACH=off")
          .doesNotContain("starts now");
    } finally {
      off.destroyForcibly().waitFor();
    }
  }

  /**
   * The application's own {@code Mallometer} object is in another class loader than the agent. It
   * must notice the attach at its next poll.
   */
  @Test
  void theApplicationsOwnBridgeSeesTheAttach() throws Exception {
    Process process = withItsOwnBridge(Map.of("MALLOMETER_ATTACH", "on"));
    try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
      assertThat(output.readLine()).isEqualTo("UNAVAILABLE the library is not preloaded");
      assertThat(call("attach", "" + process.pid()).exitCode()).isZero();
      assertThat(output.readLine()).isEqualTo("ACTIVE attached");
      assertThat(call("detach", "" + process.pid()).exitCode()).isZero();
      assertThat(output.readLine()).startsWith("UNAVAILABLE detached");
    } finally {
      process.destroyForcibly().waitFor();
    }
  }

  /**
   * Commands are answered by the application's own Mallometer object, because it has observed the
   * process for longer.
   */
  @Test
  @Tag("any-jdk")
  void theApplicationsOwnBridgeAnswersCommands() throws Exception {
    Process process = withItsOwnBridge(PRELOADED);
    try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
      assertThat(output.readLine()).startsWith("ACTIVE");
      Thread.sleep(1_000);
      Result report = call("report", "" + process.pid());

      assertThat(report).extracting(Result::exitCode, Result::err).containsExactly(0, "");
      assertThat(report.out())
          .contains("ACTIVE: preloaded", "Resident ", "malloc live ")
          .containsPattern("\nToo early to tell: .*the application is starting");
      assertThat(call("report", "" + process.pid(), "--format", "collapsed").out())
          .contains("libjvm.so!");
      assertThat(call("leaks", "" + process.pid()).out())
          .doesNotContain("only during this command", "oo early");
      assertThat(threads(process)).containsOnlyOnce("mallometer-poll");
    } finally {
      process.destroyForcibly().waitFor();
    }
  }

  @Test
  @Tag("any-jdk")
  void aFacadeThatTheApplicationClosedStaysClosed() throws Exception {
    Process process = withItsOwnBridge(PRELOADED, "closed");
    try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
      assertThat(output.readLine()).isEqualTo("closed");
      assertThat(call("leaks", "" + process.pid()).out()).contains("only during this command");
      assertThat(output.ready()).isFalse();
    } finally {
      process.destroyForcibly().waitFor();
    }
  }

  /** The variable MALLOMETER_ENABLED also applies to an agent that a command loads later. */
  @Test
  @Tag("any-jdk")
  void whereItIsSwitchedOffAnAttachIsRefusedInTheSameWords() throws Exception {
    Process off =
        application(
            DeflaterLeak.class,
            Map.of("LD_PRELOAD", System.getProperty("library"), "MALLOMETER_ENABLED", "off"));
    try {
      String reason =
          "mallometer: not started: MALLOMETER_ENABLED=off. Start the application without this"
              + " variable to use mallometer\n";
      for (String command : List.of("top", "report", "leaks", "trim", "doctor")) {
        refuses(7, reason, command, "" + off.pid());
      }
    } finally {
      off.destroyForcibly().waitFor();
    }
  }

  @Test
  void aJavaWithoutAttachSaysWhatToUseInstead() throws Exception {
    ProcessBuilder command = builder("report", pid());
    command
        .command()
        .addAll(1, List.of("--limit-modules", "java.base,java.logging,java.management"));
    Result refused = finish(command);

    assertThat(refused.exitCode()).isEqualTo(7);
    assertThat(refused.err())
        .contains(
            "no module jdk.attach; run the command with a JDK, or name the http address"
                + " of an agent or a recording")
        .hasLineCount(1);
  }

  @Test
  @Tag("any-jdk")
  void anAgentOfAnotherVersionIsNamed() throws Exception {
    Path other = directory.resolve("other.jar");
    copyAsVersion("0.0.7", other);
    Process older = application(DeflaterLeak.class, "", "-javaagent:" + other);
    try {
      refuses(7, "has the agent of version 0.0.7, and this is ", "report", "" + older.pid());
      refuses(7, "has the agent of version 0.0.7, and this is ", "attach", "" + older.pid());
    } finally {
      older.destroyForcibly().waitFor();
    }
  }

  @Test
  @Tag("any-jdk")
  void aLibraryOfAnotherVersionIsRefused() throws Exception {
    Path source =
        Files.writeString(
            directory.resolve("other.c"),
            """
            #include "mallometer.h"
            uint32_t mallometer_abi_version(void) { return MALLOMETER_ABI_VERSION + 1; }
            """);
    Path library = directory.resolve("libmallometer.so");
    Result compiled =
        finish(
            new ProcessBuilder(
                "gcc",
                "-shared",
                "-fPIC",
                "-I../../interposer/include",
                "-o",
                library.toString(),
                source.toString()));
    assertThat(compiled.exitCode()).as(compiled.err()).isZero();
    Process counted = application(DeflaterLeak.class, library.toString());
    try {
      refuses(7, ", but this bridge needs version ", "attach", "" + counted.pid());
    } finally {
      counted.destroyForcibly().waitFor();
    }
  }

  /**
   * The JVM runs in its own mount and process namespaces, as in a container, and has its own /tmp.
   */
  @Test
  @Tag("any-jdk")
  void aJvmThatSeesOtherFilesAndProcessesIsAsked() throws Exception {
    List<String> unshare = List.of("unshare", "--mount", "--pid", "--fork", "--mount-proc", "--");
    assumeTrue(finish(new ProcessBuilder(with(unshare, "true"))).exitCode() == 0, "no unshare");
    Path here = Path.of("/var/tmp", "mallometer-test-" + pid());
    Files.createDirectory(here);
    String shell =
        "cp -r '%1$s'/. '%2$s' && mount -t tmpfs tmpfs /tmp"
                .formatted(Path.of("target/test-classes").toAbsolutePath(), here)
            + " && export MALLOMETER_ATTACH=on XDG_CACHE_HOME=/tmp/cache-inside"
            + " && exec '%s' %s -cp '%s' %s"
                .formatted(
                    JAVA, String.join(" ", LOADING_AGENTS), here, DeflaterLeak.class.getName());
    Process outer = new ProcessBuilder(with(unshare, "sh", "-c", shell)).start();
    try {
      assertThat(outer.inputReader().readLine()).isEqualTo("runs");
      ProcessHandle inner = outer.children().findFirst().orElseThrow();
      Result attach = call("attach", "" + inner.pid());
      assertThat(attach.out()).as(attach.err()).contains("(attached; glibc ");
      Result report = call("report", "" + inner.pid());

      assertThat(report.exitCode()).as(report.err()).isZero();
      assertThat(report.out()).contains("ACTIVE: attached");
      assertThat(mapped(inner)).contains("/cache-inside/").doesNotContain(directory.toString());
      assertThat(report.out()).contains("process " + inner.pid(), "java_heap");
      Path temporaryInside = Path.of("/proc", "" + inner.pid(), "root/tmp");
      try (Stream<Path> files = Files.list(temporaryInside)) {
        assertThat(files).noneMatch(file -> file.getFileName().toString().startsWith("mallometer"));
      }
    } finally {
      outer.descendants().forEach(ProcessHandle::destroyForcibly);
      outer.destroyForcibly().waitFor();
      try (Stream<Path> files = Files.walk(here)) {
        files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
      }
    }
  }

  @Test
  @Tag("any-jdk")
  void aJvmWithATmpOfItsOwnIsAskedWithoutAThreadDump() throws Exception {
    List<String> unshare = List.of("unshare", "--mount", "--");
    assumeTrue(finish(new ProcessBuilder(with(unshare, "true"))).exitCode() == 0, "no unshare");
    // The JDK's attach creates a file in the working directory of the JVM, which is impossible in
    // /proc.
    for (String place : List.of("/", "/proc")) {
      Path log = directory.resolve("log");
      String shell =
          "mount -t tmpfs tmpfs /tmp && cd %s && exec '%s' %s -cp '%s' %s"
              .formatted(
                  place,
                  JAVA,
                  String.join(" ", LOADING_AGENTS),
                  Path.of("target/test-classes").toAbsolutePath(),
                  DeflaterLeak.class.getName());
      withCommand(
          with(unshare, "sh", "-c", shell),
          log,
          service -> {
            Result report = call("report", "" + service.pid(), "--timeout", "20s");

            assertThat(report.exitCode()).as(report.err()).isZero();
            assertThat(report.out()).contains("process " + service.pid(), "java_heap");
            // The first command made the JVM create an attach socket in its own /tmp. The second
            // command must work with that socket, and leave no socket in the /tmp of this test.
            Result again = call("report", "" + service.pid(), "--timeout", "20s");
            assertThat(again.exitCode()).as(again.err()).isZero();
            assertThat(Path.of("/tmp/.java_pid" + service.pid())).doesNotExist();
            Path theirs = Path.of("/proc/" + service.pid(), "root/tmp/.attach_pid" + service.pid());
            assertThat(theirs).doesNotExist();
          });
      assertThat(log).content().doesNotContain("thread dump");
    }
  }

  @Test
  @Tag("any-jdk")
  void aJvmInAUserNamespaceWithoutUsIsRefusedWithoutASignal() throws Exception {
    List<String> unshare =
        List.of(
            "setpriv",
            "--reuid=" + NOBODY,
            "--regid=" + NOBODY,
            "--clear-groups",
            "unshare",
            "--user",
            "--map-root-user",
            "--");
    assumeTrue(finish(new ProcessBuilder(with(unshare, "true"))).exitCode() == 0, "no unshare");
    Path log = directory.resolve("log");
    // The JVM's user must be able to read the classes.
    Path here = Files.createTempDirectory(Path.of("/var/tmp"), "mallometer-test-");
    try {
      Files.setPosixFilePermissions(here, PosixFilePermissions.fromString("rwxr-xr-x"));
      Path classes = Path.of("target/test-classes");
      String name = DeflaterLeak.class.getName();
      try (Stream<Path> files = Files.list(classes.resolve("io/mallometer/program"))) {
        Path target = Files.createDirectories(here.resolve("io/mallometer/program"));
        for (Path file : files.toList()) {
          Files.copy(file, target.resolve(file.getFileName()));
        }
      }
      withCommand(
          with(with(with(unshare, JAVA), SHORT_LIVED), "-cp", here.toString(), name),
          log,
          stranger ->
              refuses(
                  5,
                  "runs in a user namespace to which user 0 does not belong; run the command as user ",
                  "report",
                  "" + stranger.pid(),
                  "--timeout",
                  "3s"));
      assertThat(log).content().doesNotContain("thread dump");
    } finally {
      try (Stream<Path> files = Files.walk(here)) {
        files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
      }
    }
  }

  /**
   * The JDK repeats SIGQUIT until the JVM listens. This JVM never listens, and prints a thread dump
   * for each signal.
   */
  @Test
  @Tag("any-jdk")
  void aJvmThatNeverListensGetsTheSignalOnce() throws Exception {
    Path log = directory.resolve("log");
    withCommand(
        leak("-XX:+DisableAttachMechanism", "-XX:-UsePerfData"),
        log,
        process -> {
          // A killed JVM with this process id may have left a socket file, which the JDK would take
          // for this JVM's socket.
          Files.deleteIfExists(Path.of("/tmp/.java_pid" + process.pid()));
          givesUp("did not answer within 3 s", "report", "" + process.pid(), "--timeout", "3s");
          assertThat(Path.of("/proc/" + process.pid(), "cwd/.attach_pid" + process.pid()))
              .doesNotExist();
        });
    assertThat(Files.readString(log).split("Full thread dump", -1)).hasSize(2);
  }

  @Test
  void aJvmWithoutTheAttachMechanismIsRefused() throws Exception {
    withCommand(
        leak("-XX:+DisableAttachMechanism"),
        directory.resolve("log"),
        process -> refuses(7, "cannot be attached to", "attach", "" + process.pid()));
  }

  /**
   * The JVM forbids that an agent is loaded while it runs. Commands must use the agent that was
   * loaded at the start.
   */
  @Test
  void aJvmThatWasStartedWithTheAgentNeedNotLoadItAgain() throws Exception {
    Path log = directory.resolve("log");
    withCommand(
        leak("-XX:-EnableDynamicAgentLoading", "-javaagent:" + JAR),
        log,
        process -> {
          String pid = "" + process.pid();
          assertThat(ChildJvm.await(() -> Files.readString(log).contains("counts native memory")))
              .isTrue();
          assertThat(
                  ChildJvm.await(() -> Files.exists(Path.of("/tmp/.mallometer-" + pid, "socket"))))
              .isTrue();
          Result report = call("report", pid);
          assertThat(report.exitCode()).as(report.err()).isZero();
          assertThat(report.out()).contains("ACTIVE: attached", "DeflaterLeak.main");
          assertThat(call("phase", pid, "--begin", "warm").exitCode()).isZero();
          assertThat(left()).isEmpty();
        });
    assertThat(log).content().doesNotContain("WARNING: A Java agent");
  }

  /** Returns a command that runs the program that leaks, with these options of the JVM. */
  private static List<String> leak(String... options) {
    return with(
        with(with(List.of(JAVA), SHORT_LIVED), options),
        "-cp",
        Path.of("target/test-classes").toAbsolutePath().toString(),
        DeflaterLeak.class.getName());
  }

  private static String attach(Process plain) throws Exception {
    Result attach = call("attach", "" + plain.pid());
    assertThat(attach).extracting(Result::exitCode, Result::err).containsExactly(0, "");
    assertThat(attach.out())
        .containsPattern(
            "^process \\d+ counts native memory since \\S+ \\S+ UTC \\(attached; glibc \\S+\\);"
                + " \\S+ MiB ± \\S+ ([KM]i)?B were allocated before the attach\n");
    assertThat(threads(plain)).contains("mallometer-poll");
    return attach.out();
  }

  private static void report(Process plain) throws Exception {
    assertThat(call("report", "" + plain.pid()).out())
        .contains("ACTIVE: attached", "malloc live ", "DeflaterLeak.main")
        .containsPattern("\n  \\S+ MiB ± .* were allocated before the attach\n")
        .containsPattern("\n +live +resident +per second +over  call site\n")
        .doesNotContain("NaN", "in - objects");
  }

  private static void detach(Process plain) throws Exception {
    Result detach = call("detach", "" + plain.pid());
    assertThat(detach.exitCode()).as(detach.err()).isZero();
    assertThat(detach.out()).contains("is detached; it counted native memory since ");
    assertThat(threads(plain)).doesNotContain("mallometer-poll");
  }

  private static Process withItsOwnBridge(Map<String, String> variables, String... arguments)
      throws IOException {
    List<String> command =
        with(
            with(List.of(JAVA), LOADING_AGENTS),
            "-cp",
            System.getProperty("java.class.path"),
            HasItsOwnBridge.class.getName());
    ProcessBuilder builder = new ProcessBuilder(with(command, arguments));
    builder.environment().putAll(variables);
    return builder.redirectError(new File("/dev/null")).start();
  }

  private interface Use {
    void of(Process process) throws Exception;
  }

  /** Starts a program, waits until it has printed "runs", uses it, and kills it. */
  private static void withCommand(List<String> command, Path log, Use use) throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
    builder.environment().put("MALLOMETER_ATTACH", "on");
    Process process = builder.start();
    try {
      assertThat(ChildJvm.await(() -> Files.readString(log).contains("runs"))).isTrue();
      use.of(process);
    } finally {
      process.destroyForcibly().waitFor();
    }
  }

  private static String mapped(ProcessHandle process) throws IOException {
    return Files.readString(Path.of("/proc", "" + process.pid(), "maps"))
        .lines()
        .filter(line -> line.contains("libmallometer"))
        .collect(Collectors.joining("\n"));
  }

  private static void copyAsVersion(String version, Path to) throws IOException {
    try (JarFile from = new JarFile(JAR)) {
      Manifest manifest = new Manifest(from.getManifest());
      manifest.getMainAttributes().put(Attributes.Name.IMPLEMENTATION_VERSION, version);
      try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(to), manifest)) {
        for (JarEntry entry : Collections.list(from.entries())) {
          if (!entry.getName().equals(JarFile.MANIFEST_NAME)) {
            out.putNextEntry(new ZipEntry(entry.getName()));
            from.getInputStream(entry).transferTo(out);
          }
        }
      }
    }
  }
}
