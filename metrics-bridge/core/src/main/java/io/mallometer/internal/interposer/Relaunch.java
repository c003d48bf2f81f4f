package io.mallometer.internal.interposer;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Executes the process once more, with the same process id, to be started with the library.
 *
 * <p>The kernel replaces the program of a process by {@code execve} and keeps the process: its id,
 * its parent, its directory, its limits, and its descriptors unless they are marked. So whoever
 * supervises the process notices nothing, and the library counts from the first instruction. What
 * the program did before is lost, though, and is done again: that is right at its very beginning
 * only. {@link RelaunchConditions} has the reasons not to do it; in any doubt it is not done.
 *
 * <p>Arguments and environment are those that the kernel noted when the process began, as bytes:
 * what is not UTF-8, empty or quoted stays as it was, and what the launcher of {@code java} makes
 * of {@code JDK_JAVA_OPTIONS} or of files of arguments is made anew. They are handled as texts in
 * ISO 8859-1, in which each byte is a character.
 *
 * <p>A variable with the process id prevents a second time, whatever became of the first. Child
 * processes inherit it, but are other processes.
 */
public final class Relaunch {

  /** The process id of whoever was executed once more. */
  static final String VARIABLE = "MALLOMETER_RELAUNCHED";

  static final Charset BYTES = StandardCharsets.ISO_8859_1;

  private static final String PRELOAD = "LD_PRELOAD";
  private static final String ONLY = "MALLOMETER_ONLY";

  private static final Path PROCESS = Path.of("/proc/self");

  private static final int LONGEST_PATH = 4096;

  /** SIG_SETMASK of Linux. */
  private static final int SET_MASK = 2;

  /** The bytes of glibc's sigset_t, of which the kernel uses the first eight. */
  private static final int SIGNAL_SET_BYTES = 128;

  /** Who asks for it, which decides what may have happened before. */
  public enum Caller {
    /** An agent, before the application's main method. */
    AGENT,
    /** The application's main method, at its beginning and on its thread. */
    APPLICATION,
    /** The same, after another application has begun in this JVM: it is refused. */
    LATER_APPLICATION
  }

  private Relaunch() {}

  /**
   * Executes the process once more, in which case this does not return. Takes 0.2 s, most of it for
   * JNA's start, before the process begins anew. Never throws.
   *
   * @return why it was not done, in a sentence without a full stop, in which case everything is as
   *     it was; empty if it is not needed, because the library is preloaded
   */
  public static String execute(Caller caller) {
    try {
      Optional<String> maps = ProcFiles.mappedFiles();
      if (maps.flatMap(Availability::mappedLibrary).isPresent()) {
        return LibraryHandle.attached() ? "the library is attached to the process already" : "";
      }
      RelaunchConditions.check(caller);
      return executed(caller);
    } catch (Refused e) {
      return String.valueOf(e.getMessage());
    } catch (IOException | RuntimeException | LinkageError e) {
      return "the process cannot be relaunched: " + e;
    }
  }

  /** Why it is not done. */
  static final class Refused extends Exception {
    private static final long serialVersionUID = 1;

    Refused(String reason) {
      super(reason);
    }
  }

  private static String executed(Caller caller) throws Refused, IOException {
    Path library = BundledLibrary.extract();
    Optional<String> unusable = JnaDirectory.obstacle();
    if (unusable.isPresent()) {
      throw new Refused("JNA cannot load its native part: " + unusable.get());
    }
    List<String> words = texts("cmdline");
    List<String> environment = environment(texts("environ"), inBytes(library.toString()));
    NativeLibrary process = NativeLibrary.getProcess();
    try (RelaunchDescriptors descriptors = new RelaunchDescriptors(process)) {
      descriptors.prepare(caller);
      System.out.flush();
      System.err.flush();
      return execute(process, words, environment);
    }
  }

  /** Returns only if it fails: why. */
  private static String execute(NativeLibrary process, List<String> words, List<String> environment)
      throws Refused {
    ByteBuffer executable = executable(process);
    Strings arguments = Strings.of(words);
    Strings variables = Strings.of(environment);
    ByteBuffer before = Structs.allocate(SIGNAL_SET_BYTES);
    setSignals(process, signalsBlockedAtStart(), before);
    int error;
    try {
      process
          .getFunction("execve")
          .invokeInt(
              new Object[] {
                Structs.address(executable), arguments.pointers(), variables.pointers()
              });
      error = Native.getLastError();
    } finally {
      setSignals(process, before, Structs.allocate(SIGNAL_SET_BYTES));
      Reference.reachabilityFence(executable);
      Reference.reachabilityFence(arguments);
      Reference.reachabilityFence(variables);
    }
    return "the system refuses to relaunch the process (errno " + error + ")";
  }

  /** The path of the launcher, as bytes: its own name is what the process is then called. */
  private static ByteBuffer executable(NativeLibrary process) throws Refused {
    ByteBuffer path = Structs.allocate(LONGEST_PATH);
    Strings link = Strings.of(List.of("/proc/self/exe"));
    int length =
        process
            .getFunction("readlink")
            .invokeInt(
                new Object[] {
                  Structs.address(link.memory()), Structs.address(path), LONGEST_PATH - 1
                });
    if (length <= 0) {
      throw new Refused("the file of the java launcher cannot be found");
    }
    return path;
  }

  /**
   * A thread of Java blocks the signal by which threads are dumped, and who is executed by it would
   * inherit that.
   */
  private static void setSignals(NativeLibrary process, ByteBuffer set, ByteBuffer before) {
    process
        .getFunction("pthread_sigmask")
        .invokeInt(new Object[] {SET_MASK, Structs.address(set), Structs.address(before)});
  }

  /** Those of the process's first thread, on which the launcher only waits. */
  private static ByteBuffer signalsBlockedAtStart() {
    String blocked = RelaunchConditions.status("SigBlk");
    ByteBuffer set = Structs.allocate(SIGNAL_SET_BYTES);
    return set.putLong(0, blocked.isEmpty() ? 0 : Long.parseUnsignedLong(blocked, 16));
  }

  /**
   * The environment of the process to be.
   *
   * @param present each as {@code NAME=value}
   * @param library the path of the library
   */
  static List<String> environment(List<String> present, String library) {
    List<String> variables = new ArrayList<>();
    StringBuilder preload = new StringBuilder(library);
    boolean only = false;
    for (String variable : present) {
      if (variable.startsWith(PRELOAD + "=")) {
        for (String entry : variable.substring(PRELOAD.length() + 1).split("[: ]+")) {
          preload.append(entry.isEmpty() || entry.contains("libmallometer") ? "" : ":" + entry);
        }
      } else if (!variable.startsWith(VARIABLE + "=") && !variable.equals(ONLY + "=")) {
        variables.add(variable);
        only |= variable.startsWith(ONLY + "=");
      }
    }
    variables.add(PRELOAD + "=" + preload);
    variables.add(VARIABLE + "=" + ProcessHandle.current().pid());
    if (!only) {
      variables.add(ONLY + "=java");
    }
    return variables;
  }

  /** What the kernel noted of the process: texts, each ended by a zero. */
  static List<String> texts(String file) throws IOException {
    return split(new String(Files.readAllBytes(PROCESS.resolve(file)), BYTES));
  }

  static List<String> split(String texts) {
    List<String> split = new ArrayList<>(List.of(texts.split("\0", -1)));
    split.remove(split.size() - 1);
    return split;
  }

  private static String inBytes(String path) {
    return new String(path.getBytes(LoadedInterposer.FILE_NAMES), BYTES);
  }

  /**
   * Texts as C has them.
   *
   * @param memory the texts, each ended by a zero, and after them the addresses of all, ended by a
   *     zero
   * @param pointers where the addresses begin
   */
  private record Strings(ByteBuffer memory, long pointers) {

    static Strings of(List<String> texts) {
      int bytes = texts.stream().mapToInt(text -> text.length() + 1).sum();
      int first = (bytes + Long.BYTES - 1) / Long.BYTES * Long.BYTES;
      ByteBuffer memory = Structs.allocate(first + (texts.size() + 1) * Long.BYTES);
      long address = Structs.address(memory);
      int end = 0;
      for (int i = 0; i < texts.size(); i++) {
        byte[] text = texts.get(i).getBytes(BYTES);
        memory.put(end, text);
        memory.putLong(first + i * Long.BYTES, address + end);
        end += text.length + 1;
      }
      return new Strings(memory, address + first);
    }
  }
}
