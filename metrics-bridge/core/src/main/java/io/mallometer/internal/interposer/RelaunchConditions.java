package io.mallometer.internal.interposer;

import io.mallometer.internal.interposer.Relaunch.Caller;
import io.mallometer.internal.interposer.Relaunch.Refused;
import java.io.BufferedInputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * When a process may be executed once more: nothing may have happened that is lost by it or would
 * happen twice, and the second time must begin as the first one did. A refusal costs the counts of
 * the beginning only, so each doubt is one.
 */
final class RelaunchConditions {

  private static final String LAUNCHER = "java";

  /** AT_SECURE of the auxiliary vector: the process has rights that its user has not. */
  private static final long AT_SECURE = 23;

  private static final List<String> NATIVE_AGENTS =
      List.of("-agentlib:", "-agentpath:", "-Xrun", "-Xdebug");

  private static final String JAVA_AGENT = "-javaagent:";
  private static final String OPTIONS_FILE = "-XX:VMOptionsFile=";

  /** Options by which the JVM's beginning is recorded, or restored from a file. */
  private static final List<String> IMAGES =
      List.of(
          "-Xshare:dump",
          "-XX:ArchiveClassesAtExit=",
          "-XX:DumpLoadedClassList=",
          "-XX:+RecordDynamicDumpInfo",
          "-XX:AOTMode=record",
          "-XX:AOTMode=create",
          "-XX:AOTCacheOutput=",
          "-XX:CRaCCheckpointTo=",
          "-XX:CRaCRestoreFrom=");

  private static final String RECORDING = "-XX:StartFlightRecording";

  private static final String SPRING_LOADER = "org.springframework.boot.loader.";

  /** Classes that may lie between the program's main method and us. */
  private static final List<String> BETWEEN =
      List.of(
          "org.springframework.", "io.mallometer.", "kotlin.", "java.", "jdk.internal.", "sun.");

  /** The JVM's own threads: each as its group and its name. */
  private static final Pattern OF_JVM =
      Pattern.compile(
          "system/(Reference Handler|Finalizer|Signal Dispatcher|Notification Thread)"
              + "|InnocuousThreadGroup/(Common-Cleaner|Cleaner-\\d+)");

  /** What does nothing for the program: ours, JNA's, and the one that warms Spring Boot up. */
  private static final Pattern OF_LIBRARIES =
      Pattern.compile("mallometer-.*|JNA Cleaner|background-preinit");

  private static final Path PROCESS = Path.of("/proc/self");
  private static final Path STANDARD_INPUT = PROCESS.resolve("fd/0");

  /** Input that arrives meanwhile hides what was read before. */
  private static final int INPUT_COMPARISONS = 3;

  private RelaunchConditions() {}

  /** Refuses if the process is not to be executed once more. */
  static void check(Caller caller) throws Refused, IOException {
    refuseIf(
        ProcessStart.relaunched(),
        "the process was relaunched, but the dynamic loader did not load the library");
    refuseIf(
        caller == Caller.LATER_APPLICATION,
        "another application context has been started in this JVM");
    Optional<String> off = Availability.switchedOff();
    refuseIf(off.isPresent(), off.orElse(""));
    refuseIf(!BundledLibrary.existsFor(Platform.current()), "there is no library for this system");
    String only = System.getenv().getOrDefault("MALLOMETER_ONLY", "");
    refuseIf(
        !only.isEmpty() && !List.of(only.split(",")).contains(LAUNCHER),
        "MALLOMETER_ONLY=" + only + " does not name java");
    refuseOtherLaunchers(Files.readSymbolicLink(Path.of("/proc/self/exe")));
    refuseOtherRights(Files.readAllBytes(Path.of("/proc/self/auxv")), status("Uid"), status("Gid"));
    List<String> words = Relaunch.texts("cmdline");
    refuseLostFiles(words);
    refuseOptions(
        caller, options(words, main(words, System.getProperty("sun.java.command", ""))), ownJar());
    refuseIf(
        Files.exists(Path.of("/tmp/.java_pid" + ProcessHandle.current().pid())),
        "a tool has attached to the JVM");
    if (caller == Caller.APPLICATION) {
      refuseOtherPrograms(List.of(new Throwable().getStackTrace()));
    }
    refuseIf(
        ProcessHandle.current().children().findAny().isPresent(),
        "the process has child processes");
    refuseOtherThreads(caller);
    if (caller == Caller.APPLICATION) {
      refuseLostInput(); // after the threads: one that reads would hold the stream's lock
    }
  }

  private static void refuseIf(boolean wrong, String reason) throws Refused {
    if (wrong) {
      throw new Refused(reason);
    }
  }

  /**
   * Another one has begun in a way that we do not know, and its file may be gone.
   *
   * @param executable what {@code /proc/self/exe} leads to
   */
  static void refuseOtherLaunchers(Path executable) throws Refused {
    refuseIf(
        !executable.endsWith(LAUNCHER),
        "the JVM was not started by the program java but by " + executable);
  }

  /**
   * The dynamic loader ignores LD_PRELOAD where a program has rights that its user has not.
   *
   * @param vector the auxiliary vector: pairs of a kind and a value
   * @param users the real, effective, saved and file system user
   * @param groups the same of groups
   */
  static void refuseOtherRights(byte[] vector, String users, String groups) throws Refused {
    ByteBuffer pairs = ByteBuffer.wrap(vector).order(ByteOrder.nativeOrder());
    boolean secure = !isOne(users) || !isOne(groups);
    while (pairs.remaining() >= 2 * Long.BYTES) {
      secure |= pairs.getLong() == AT_SECURE & pairs.getLong() != 0;
    }
    refuseIf(secure, "the program has privileges that its user lacks, by setuid or capabilities");
  }

  private static boolean isOne(String identities) {
    String[] all = identities.split("\\s+");
    return all.length > 1 && all[0].equals(all[1]);
  }

  /** The launcher reads files of arguments again, and a pipe has nothing more to read. */
  static void refuseLostFiles(List<String> words) throws Refused {
    for (String word : words) {
      boolean lost =
          word.startsWith("@")
              && word.length() > 1
              && !Files.isRegularFile(path(word.substring(1)));
      refuseIf(
          lost || word.contains("/dev/fd/") || word.contains("/proc/self/fd/"),
          "the argument " + word + " names a file that cannot be read a second time");
    }
  }

  /**
   * Returns the jar or main class, with which the program's own arguments begin.
   *
   * @param words of the command line
   * @param program the system property {@code sun.java.command}: jar or main class, and arguments
   */
  static String main(List<String> words, String program) {
    int jar = words.indexOf("-jar") + 1;
    boolean isJar = jar > 0 && jar < words.size() && program.startsWith(words.get(jar));
    return isJar ? words.get(jar) : program.split(" ", 2)[0];
  }

  /**
   * The JVM's options in the order in which it reads them, those in files included.
   *
   * @param words of the command line
   * @param main the word among them with which the program's own arguments begin
   */
  static List<String> options(List<String> words, String main) {
    List<String> options = new ArrayList<>(ofVariable("JAVA_TOOL_OPTIONS"));
    options.addAll(ofVariable("JDK_JAVA_OPTIONS"));
    int end = words.indexOf(main);
    options.addAll(words.subList(1, end < 0 ? words.size() : end));
    options.addAll(ofVariable("_JAVA_OPTIONS"));
    List<String> all = new ArrayList<>();
    for (String option : options) {
      all.add(option);
      if (option.startsWith("@")) {
        all.addAll(ofFile(option.substring(1)));
      } else if (option.startsWith(OPTIONS_FILE)) {
        all.addAll(ofFile(option.substring(OPTIONS_FILE.length())));
      }
    }
    return all;
  }

  private static List<String> ofVariable(String name) {
    return unquoted(System.getenv().getOrDefault(name, ""));
  }

  private static List<String> ofFile(String name) {
    try {
      return unquoted(new String(Files.readAllBytes(path(name)), Relaunch.BYTES));
    } catch (IOException e) {
      return List.of();
    }
  }

  /** Good enough to recognise options by their beginnings. */
  private static List<String> unquoted(String text) {
    return List.of(text.replaceAll("[\"']", "").strip().split("\\s+"));
  }

  /**
   * Refuses options by which something has acted already.
   *
   * @param own the agent's jar; null if it is unknown
   */
  static void refuseOptions(Caller caller, List<String> options, @Nullable Path own)
      throws Refused {
    boolean ownSeen = false;
    for (String option : options) {
      boolean ours = option.startsWith(JAVA_AGENT) && isOwn(option, own);
      ownSeen |= ours;
      boolean later = caller == Caller.AGENT && ownSeen;
      refuseIf(
          begins(option, NATIVE_AGENTS) || option.startsWith(JAVA_AGENT) && !ours && !later,
          "another agent has acted already: " + option.split("=", 2)[0]);
      refuseIf(
          begins(option, IMAGES),
          "the JVM records or restores its start: " + option.split("=", 2)[0]);
      refuseIf(
          caller == Caller.APPLICATION && option.startsWith(RECORDING),
          "Flight Recorder records already");
    }
  }

  private static boolean begins(String option, List<String> beginnings) {
    return beginnings.stream().anyMatch(option::startsWith);
  }

  private static boolean isOwn(String option, @Nullable Path own) {
    Path jar = path(option.substring(JAVA_AGENT.length()).split("=", 2)[0]);
    try {
      return String.valueOf(jar.getFileName()).startsWith("mallometer-agent")
          || own != null && Files.isSameFile(jar, own);
    } catch (IOException e) {
      return false;
    }
  }

  private static @Nullable Path ownJar() {
    @Nullable CodeSource source = Relaunch.class.getProtectionDomain().getCodeSource();
    try {
      return source == null ? null : Path.of(URI.create(source.getLocation().toString()));
    } catch (RuntimeException e) {
      // Inside another jar.
      return null;
    }
  }

  /** From bytes that the kernel noted. */
  private static Path path(String bytes) {
    return Path.of(new String(bytes.getBytes(Relaunch.BYTES), LoadedInterposer.FILE_NAMES));
  }

  /**
   * A test runner, for one, has done more than begin when it comes to the application. On any other
   * thread than that of the main method the first call is another.
   *
   * @param stack of this thread, the latest call first
   */
  static void refuseOtherPrograms(List<StackTraceElement> stack) throws Refused {
    @Nullable String program = null;
    for (int i = stack.size() - 1; i >= 0; i--) {
      String name = stack.get(i).getClassName();
      boolean known =
          program == null
              ? name.startsWith(SPRING_LOADER) || i < stack.size() - 1 && isBetween(name)
              : name.equals(program) || name.startsWith(program + "$") || isBetween(name);
      if (!known) {
        refuseIf(
            program != null || !stack.get(i).getMethodName().equals("main"),
            "mallometer was not started by the program's main method, but by " + name);
        program = name;
      }
    }
  }

  private static boolean isBetween(String name) {
    return begins(name, BETWEEN);
  }

  /** What main read from a pipe is gone, and a file would be read on from there. */
  private static void refuseLostInput() throws Refused, IOException {
    refuseIf(
        System.in.getClass() != BufferedInputStream.class
            || Files.isRegularFile(STANDARD_INPUT) && !line("fdinfo/0", "pos").equals("0")
            || isBuffered(System.in),
        "standard input has been read or replaced");
  }

  /**
   * Whether a stream over standard input holds what it has read ahead. If all of that was taken
   * from it, nobody can tell.
   */
  private static boolean isBuffered(InputStream stream) {
    // Not closed: the descriptor is everybody's.
    FileInputStream unbuffered = new FileInputStream(FileDescriptor.in);
    try {
      for (int i = 0; i < INPUT_COMPARISONS; i++) {
        if (stream.available() > unbuffered.available()) {
          return true;
        }
      }
      return false;
    } catch (IOException e) {
      // Closed by the program, unless it was so from the beginning.
      return Files.exists(STANDARD_INPUT);
    }
  }

  /**
   * Before main, daemon threads are Java's own and those of agents. Later they may be the
   * application's, whose pools often have no others, and what they do is lost.
   */
  private static void refuseOtherThreads(Caller caller) throws Refused {
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      boolean counts = caller == Caller.APPLICATION ? !isKnown(thread) : !thread.isDaemon();
      refuseIf(
          thread != Thread.currentThread() && counts,
          "the thread " + thread.getName() + " runs already");
    }
  }

  private static boolean isKnown(Thread thread) {
    @Nullable ThreadGroup group = thread.getThreadGroup();
    return group == null // it has ended
        || OF_JVM.matcher(group.getName() + "/" + thread.getName()).matches()
        || OF_LIBRARIES.matcher(thread.getName()).matches();
  }

  /** A line of what the kernel tells of the process and its first thread; empty if it is none. */
  static String status(String name) {
    return line("status", name);
  }

  private static String line(String file, String name) {
    try {
      for (String line : Files.readAllLines(PROCESS.resolve(file), Relaunch.BYTES)) {
        if (line.startsWith(name + ":")) {
          return line.substring(name.length() + 1).strip();
        }
      }
    } catch (IOException e) {
      return "";
    }
    return "";
  }
}
