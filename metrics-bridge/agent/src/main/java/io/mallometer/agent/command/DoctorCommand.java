package io.mallometer.agent.command;

import io.mallometer.internal.library.load.BundledLibrary;
import io.mallometer.internal.text.HumanText;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Checks the machine, this Java and a JVM, and prints what to do about each problem. */
@Command(
    name = "doctor",
    description = {
      "Checks whether kernel, C library, permissions and Java suit mallometer, and says what to"
          + " do; for a JVM also its preload, options and allocator.",
      "Exits with 1 if counting does not work."
    })
final class DoctorCommand implements Callable<Integer> {

  private static final int PROGRAM_SECONDS = 20;
  private static final int PERF_FOR_USERS = 2;
  private static final long MAPPINGS = 65_530;
  private static final int LARGEST_TEXT = 4_096;

  @Parameters(arity = "0..1", paramLabel = "PID", description = "a JVM of this user")
  private @Nullable Long pid;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      defaultValue = Target.TIMEOUT,
      description = Target.ABOUT_TIMEOUT)
  private String timeout = Target.TIMEOUT;

  private final Output out = Output.standard();
  private boolean broken;

  @Override
  public Integer call() throws Exception {
    Duration limit = Target.span("--timeout", timeout);
    if (pid != null) {
      JvmProcess process = JvmProcess.of(pid);
      process.check();
      jvm(process, limit);
    } else {
      machine();
      java();
      jvms();
    }
    out.flush();
    return broken ? ExitCode.FAILED : ExitCode.OK;
  }

  // ---- Checks of the machine

  private void machine() throws Exception {
    good(
        "system",
        System.getProperty("os.name")
            + " "
            + System.getProperty("os.version")
            + ", "
            + System.getProperty("os.arch"));
    library();
    JvmProcess self = JvmProcess.of(ProcessHandle.current().pid());
    String seccomp = self.status("Seccomp").orElse("?");
    tell(
        !seccomp.equals("2"),
        "seccomp",
        seccomp.equals("2") ? "a filter is in force" : "no filter",
        "if figures are missing, compare with a process outside the container");
    double mappings = number("/proc/sys/vm/max_map_count");
    tell(
        !(mappings < MAPPINGS),
        "mappings",
        "vm.max_map_count is " + Text.number(mappings),
        "sysctl vm.max_map_count=65530; with a lower value leak evidence observes fewer objects");
    double perf = number("/proc/sys/kernel/perf_event_paranoid");
    tell(
        perf <= PERF_FOR_USERS,
        "perf",
        "kernel.perf_event_paranoid is " + Text.number(perf),
        "sysctl kernel.perf_event_paranoid=2 allows watchpoints, which show the code that"
            + " accesses an object");
    boolean huge = text("/sys/kernel/mm/transparent_hugepage/enabled").contains("[always]");
    tell(
        !huge,
        "huge pages",
        huge ? "always: the resident set is rounded up to 2 MiB" : "not forced",
        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
    cgroup();
  }

  /**
   * Starts the program {@code true} with the unpacked library, to see whether the library can be
   * preloaded.
   */
  private void library() throws Exception {
    Path library;
    try {
      library = BundledLibrary.extract();
    } catch (IOException e) {
      bad(
          "library",
          String.valueOf(e.getMessage()),
          "mallometer extract DIR unpacks it to" + " another directory");
      return;
    }
    good("library", library.toString());
    Process program =
        withPreload(new ProcessBuilder("true"), library).redirectErrorStream(true).start();
    String said = said(program);
    boolean works = said.startsWith("mallometer:") && program.exitValue() == 0;
    if (works) {
      good("preload", said.strip());
    } else {
      bad(
          "preload",
          "a test program did not start with the library: "
              + (said.isBlank() ? "no message" : said.strip()),
          "glibc 2.17 or newer, or musl, on x86-64 or aarch64 is needed");
    }
  }

  private static ProcessBuilder withPreload(ProcessBuilder builder, Path library) {
    builder.environment().put("LD_PRELOAD", library.toString());
    builder.environment().put("MALLOMETER_LOG", "info");
    builder.environment().remove("MALLOMETER_ONLY");
    builder.environment().remove("MALLOMETER_RECORDING");
    return builder;
  }

  private static String said(Process program) throws Exception {
    program.getOutputStream().close();
    if (!program.waitFor(PROGRAM_SECONDS, TimeUnit.SECONDS)) {
      program.destroyForcibly().waitFor();
    }
    return new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  private void cgroup() throws IOException {
    boolean second = Files.exists(Path.of("/sys/fs/cgroup/cgroup.controllers"));
    boolean first = Files.isDirectory(Path.of("/sys/fs/cgroup/memory"));
    tell(
        second || first,
        "cgroup",
        second ? "version 2" : first ? "version 1" : "none is visible",
        "mount /sys/fs/cgroup into the container");
  }

  // ---- Checks of this Java

  private void java() throws IOException {
    good("java", System.getProperty("java.version") + " in " + System.getProperty("java.home"));
    boolean attach = ModuleLayer.boot().findModule("jdk.attach").isPresent();
    tell(
        attach,
        "attach",
        attach ? "the module jdk.attach is present" : "this Java has no module jdk.attach",
        "use a JDK instead of a JRE, or the address of an agent, http://HOST:PORT");
  }

  private void jvms() throws IOException {
    for (JvmProcess process : JvmProcess.all()) {
      boolean there = process.maps("libmallometer");
      good(
          "process " + process.pid(),
          (there ? "has the library: " : "without the library: ") + process.commandLine());
    }
  }

  // ---- Checks of a JVM

  private void jvm(JvmProcess process, Duration limit) throws Exception {
    good("process " + process.pid(), process.commandLine());
    Optional<String> forbidden = process.attachingForbidden();
    if (forbidden.isPresent()) {
      quietly("attach", "its environment forbids attaching the library: " + forbidden.get());
    }
    for (String other : List.of("libjemalloc", "libtcmalloc", "libmimalloc")) {
      for (String path : process.mapped(other)) {
        quietly("allocator", path + " is the allocator; calls take a longer path");
      }
    }
    double space = process.limit("Max address space");
    tell(
        Double.isNaN(space),
        "limits",
        Double.isNaN(space)
            ? "no limit of address space"
            : "address space " + HumanText.bytes(space),
        "ulimit -v unlimited");
    try (Source source = Target.open(Long.toString(process.pid()), "", limit)) {
      asked(process, source);
    }
  }

  private void asked(JvmProcess process, Source source) throws Failure, IOException {
    Json facts = source.get("facts").json();
    good("java", facts.at("name").text() + ", Java " + facts.at("version").text());
    List<String> arguments = facts.at("arguments").texts();
    Json root = source.get("nativememory").json();
    diagnosis(root);
    counting(process, root);
    String remark = root.at("self", "remark").text();
    if (!remark.isEmpty()) {
      quietly("remark", remark);
    }
    Json sites = source.get("sites?limit=1").json();
    String missing = sites.at("reading", "reason").text();
    tell(
        missing.isEmpty(),
        "call sites",
        missing.isEmpty() ? Text.number(sites.at("matching").number()) + " known" : missing,
        "MALLOMETER_STACKS=java is the default");
    Json breakdown = source.get("breakdown").json();
    tell(
        breakdown.at("nativeMemoryTracking").truth(),
        "NMT",
        breakdown.at("nativeMemoryTracking").truth()
            ? "on"
            : "off: the JVM's own part is estimated",
        "-XX:NativeMemoryTracking=summary makes it exact, at some cost");
    hugePages(breakdown.at("hugePages"));
    leaks(root);
    boolean access =
        arguments.contains("--enable-native-access=ALL-UNNAMED")
            || major(facts.at("version").text()) < 24;
    tell(
        access,
        "native access",
        access ? "without a warning" : "this JDK prints a warning",
        "--enable-native-access=ALL-UNNAMED");
  }

  private void hugePages(Json huge) throws IOException {
    if (huge.present()) {
      good("huge pages", huge.at("sentence").text());
    }
  }

  private void diagnosis(Json root) throws IOException {
    String state = root.at("diagnosis").text();
    String text = Text.diagnosis(state, root.at("sentence").text());
    if (state.equals("healthy")) {
      good("diagnosis", text);
    } else if (!state.isEmpty()) {
      quietly("diagnosis", text);
    }
  }

  private void counting(JvmProcess process, Json root) throws IOException {
    if (!root.at("status", "state").text().equals("ACTIVE")) {
      String offer = Target.offer(Long.toString(process.pid()), root);
      bad(
          "counting",
          root.at("status", "reason").text()
              + "; LD_PRELOAD was "
              + process.variable("LD_PRELOAD").orElse("not set"),
          offer.isEmpty()
              ? root.at("status", "remedy").text()
              : offer + "; to count from the start: " + Commands.called() + " run -- java ...");
      return;
    }
    List<String> libraries = process.mapped("libmallometer");
    Json self = root.at("self");
    good(self.at("mode").text(), libraries.isEmpty() ? "mapped" : libraries.get(0));
    good("counting", "%s since %s".formatted(self.at("allocator").text(), self.at("since").text()));
    Json attachment = self.at("attachment");
    if (attachment.present()) {
      attachment(attachment);
    }
  }

  private void attachment(Json attachment) throws IOException {
    boolean complete = attachment.at("complete").truth();
    double drift = attachment.at("driftBytes").number();
    double normal = attachment.at("driftBoundBytes").number();
    String difference =
        normal == 0 && drift == 0
            ? "the difference from glibc's own figure is not known"
            : "glibc's own figure differs by %s, up to %s is normal"
                .formatted(HumanText.bytes(drift), HumanText.bytes(normal));
    tell(
        complete,
        "attachment",
        String.format(
            Locale.ROOT,
            "%s%s pointers to malloc lead to mallometer, %s could not be changed; calls not"
                + " seen: %s; %s; the attach blocked the loading of libraries for %.1f ms",
            complete ? "" : "incomplete: ",
            Text.number(attachment.at("words").number()),
            Text.number(attachment.at("wordsRefused").number()),
            Text.number(attachment.at("callsUnseen").number()),
            difference,
            attachment.at("lockSeconds").number() * 1e3),
        "a preload sees every call: " + Commands.called() + " run -- java ...");
  }

  private void leaks(Json root) throws IOException {
    Json leaks = root.at("observation");
    if (leaks.present()) {
      String reason = leaks.at("reason").text();
      tell(
          reason.isEmpty(),
          "leak evidence",
          leaks.at("state").text() + (reason.isEmpty() ? "" : ": " + reason),
          "docs/explanation/leaks.md names each reason");
    }
  }

  private static int major(String version) {
    String digits = version.replaceAll("\\D.*", "");
    return digits.isEmpty() ? 0 : Integer.parseInt(digits);
  }

  // ---- Printing results

  private void tell(boolean fine, String what, String found, String remedy) throws IOException {
    if (fine) {
      good(what, found);
    } else {
      quietly(what, found + "; " + remedy);
    }
  }

  private void good(String what, String found) throws IOException {
    say("ok  ", what, found);
  }

  private void quietly(String what, String found) throws IOException {
    say("note", what, found);
  }

  private void bad(String what, String found, String remedy) throws IOException {
    broken = true;
    say("BAD ", what, found + "; " + remedy);
  }

  private void say(String mark, String what, String found) throws IOException {
    out.line(mark + " " + Text.left(what, 14) + " " + Text.plain(found));
  }

  private static double number(String file) {
    try {
      return Double.parseDouble(text(file).strip());
    } catch (NumberFormatException e) {
      return Double.NaN;
    }
  }

  /**
   * Reads up to 4 KiB of a file. The first read requests all of it, because for some settings the
   * kernel returns nothing to later reads.
   */
  private static String text(String file) {
    try (InputStream in = Files.newInputStream(Path.of(file))) {
      return new String(in.readNBytes(LARGEST_TEXT), StandardCharsets.UTF_8);
    } catch (IOException e) {
      return "";
    }
  }
}
