package io.mallometer.agent.command;

import io.mallometer.internal.library.load.AttachVariable;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A process as the kernel shows it. {@link #check} must come before an attach, because an attach
 * sends SIGQUIT, which kills a program without a handler for it.
 *
 * @param pid the process id
 * @param proc the directory of the process
 */
record JvmProcess(long pid, Path proc) {

  private static final int ROOT = 0;

  /**
   * The bit of SIGQUIT in the kernel's masks of signals. SIGQUIT makes a JVM listen for an attach.
   */
  private static final int QUIT_BIT = 2;

  static JvmProcess of(long pid) {
    return new JvmProcess(pid, Path.of("/proc", Long.toString(pid)));
  }

  /** Returns all JVMs whose mappings this user may read, except this process. */
  static List<JvmProcess> all() throws IOException {
    List<JvmProcess> found = new ArrayList<>();
    try (Stream<Path> processes = Files.list(Path.of("/proc"))) {
      processes
          .filter(path -> path.getFileName().toString().matches("\\d+"))
          .map(path -> of(Long.parseLong(path.getFileName().toString())))
          .filter(process -> process.pid != ProcessHandle.current().pid())
          .filter(process -> process.maps("/libjvm.so"))
          .forEach(found::add);
    }
    return found;
  }

  /** Throws a {@link Failure} that says what to do if the process cannot be attached to. */
  void check() throws Failure {
    if (!Files.isDirectory(proc) || state() == 'Z') {
      throw gone();
    }
    refuseOtherUser();
    refuseOtherUserNamespace();
    Optional<Failure> stopped = stopped();
    if (stopped.isPresent()) {
      throw stopped.get();
    }
    if (!maps("/libjvm.so")) {
      throw new Failure(
          ExitCode.GONE,
          "process " + pid + " (" + command() + ") is not a JVM; mallometer doctor lists the JVMs");
    }
    if (!expectsQuit()) {
      throw new Failure(
          ExitCode.NOT_THERE,
          "process "
              + pid
              + " cannot be attached to: it was started a moment ago, or has -Xrs or"
              + " -XX:+DisableAttachMechanism; use the address of its agent, http://HOST:PORT");
    }
  }

  Optional<Failure> stopped() {
    return state() == 'T' || state() == 't'
        ? Optional.of(
            new Failure(
                ExitCode.NO_ANSWER,
                "process " + pid + " is stopped; kill -CONT " + pid + " resumes it"))
        : Optional.empty();
  }

  Failure gone() {
    return new Failure(
        ExitCode.GONE, "there is no process " + pid + "; if it ended, read its recording");
  }

  private void refuseOtherUser() throws Failure {
    int owner = owner(proc);
    int self = owner(Path.of("/proc/self"));
    if (self != ROOT && owner != self) {
      throw new Failure(
          ExitCode.NOT_ALLOWED,
          "process %d belongs to user %s; run the command as that user, or as root"
              .formatted(pid, userName(owner)));
    }
  }

  /**
   * Refuses a JVM in a user namespace that does not contain this user, because such a JVM cannot
   * identify the signal's sender and answers with a thread dump.
   */
  private void refuseOtherUserNamespace() throws Failure {
    int self = owner(Path.of("/proc/self"));
    List<String[]> known = text("uid_map").lines().map(line -> line.strip().split(" +")).toList();
    boolean stranger =
        known.stream()
            .noneMatch(row -> inRange(self, Long.parseLong(row[1]), Long.parseLong(row[2])));
    if (!known.isEmpty() && stranger) {
      throw new Failure(
          ExitCode.NOT_ALLOWED,
          "process %d runs in a user namespace to which user %d does not belong; run the command as user %s"
              .formatted(pid, self, userName(owner(proc))));
    }
  }

  private static boolean inRange(long number, long first, long count) {
    return number >= first && number - first < count;
  }

  /** Returns the process id in the innermost PID namespace of the process. */
  long pidInside() {
    return status("NSpid")
        .map(pids -> Long.parseLong(pids.substring(pids.lastIndexOf('\t') + 1)))
        .orElse(pid);
  }

  boolean alive() {
    return Files.isDirectory(proc) && state() != 'Z';
  }

  int owner() {
    return owner(proc);
  }

  private static int owner(Path path) {
    try {
      return (int) Files.getAttribute(path, "unix:uid");
    } catch (IOException e) {
      return -1;
    }
  }

  private String userName(int uid) {
    try {
      return Files.getOwner(proc).getName();
    } catch (IOException e) {
      return Integer.toString(uid);
    }
  }

  /** Returns the state of the process, such as R, S, D, T or Z; a blank if unknown. */
  char state() {
    String stat = text("stat");
    int end = stat.lastIndexOf(')');
    return end > 0 && stat.length() > end + 2 ? stat.charAt(end + 2) : ' ';
  }

  String command() {
    String[] words = text("cmdline").split("\0");
    return words[0].isEmpty() ? text("comm").strip() : words[0];
  }

  String commandLine() {
    String line = text("cmdline").replace('\0', ' ').strip();
    return line.length() > 100 ? line.substring(0, 97) + "..." : line;
  }

  /** Returns a variable of the environment that the process was started with. */
  Optional<String> variable(String name) {
    return Stream.of(text("environ").split("\0"))
        .filter(line -> line.startsWith(name + "="))
        .map(line -> line.substring(name.length() + 1))
        .findFirst();
  }

  Optional<String> attachingForbidden() {
    return variable(AttachVariable.NAME).flatMap(AttachVariable::objection);
  }

  boolean maps(String part) {
    return text("maps").contains(part);
  }

  List<String> mapped(String part) {
    return text("maps")
        .lines()
        .filter(line -> line.contains(part))
        .map(line -> line.substring(line.indexOf('/')))
        .distinct()
        .toList();
  }

  Optional<String> status(String name) {
    return text("status")
        .lines()
        .filter(line -> line.startsWith(name + ":"))
        .map(line -> line.substring(name.length() + 1).strip())
        .findFirst();
  }

  private boolean expectsQuit() {
    return status("SigCgt").map(mask -> new BigInteger(mask, 16).testBit(QUIT_BIT)).orElse(false);
  }

  /** Returns whether the process has another mount namespace, in which it can see other files. */
  boolean hasOtherMounts() {
    return !link(proc.resolve("ns/mnt")).equals(link(Path.of("/proc/self/ns/mnt")));
  }

  private static String link(Path path) {
    try {
      return Files.readSymbolicLink(path).toString();
    } catch (IOException e) {
      return "";
    }
  }

  double limit(String name) {
    Matcher matcher = Pattern.compile(Pattern.quote(name) + " +(\\d+)").matcher(text("limits"));
    return matcher.find() ? Double.parseDouble(matcher.group(1)) : Double.NaN;
  }

  private String text(String file) {
    try {
      return new String(Files.readAllBytes(proc.resolve(file)), StandardCharsets.UTF_8);
    } catch (IOException e) {
      return "";
    }
  }
}
