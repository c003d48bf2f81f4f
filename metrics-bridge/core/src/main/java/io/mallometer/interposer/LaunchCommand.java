package io.mallometer.interposer;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.StringJoiner;

/**
 * How to start this program again with the library: a line for a shell, rebuilt from the words with
 * which the program was really started, so that it can be pasted.
 *
 * <p>The line ends up in logs and on pages, where arguments may be secret, and no list of names can
 * tell which are. So only what cannot hold a secret is repeated: options of the JVM itself, its
 * class path, the jar or main class. Values of system properties, of agents and of the program's
 * options are starred but for {@code true}, {@code false} and a few harmless ones, and have to be
 * filled in again; other arguments of the program become three dots. Where no pasteable line exists
 * (the JVM was not started by {@code java}, or its class path fills pages) the three dots stand for
 * everything behind {@code java}.
 *
 * @param words the program, its options and arguments; empty if unknown
 * @param main the jar or class that runs, as one of the words; empty if unknown
 */
record LaunchCommand(List<String> words, String main) {

  static final String ALLOW_NATIVE_ACCESS = "--enable-native-access=ALL-UNNAMED";

  /** Longer lines are class paths of build tools and IDEs that nobody wants to paste. */
  private static final int LONGEST_LINE = 1000;

  private static final String AND_SO_ON = "...";

  private static final String STARS = "***";

  /** Properties and options of programs whose values people may read. */
  private static final Set<String> HARMLESS = Set.of("server.port", "spring.profiles.active");

  /** Options of the launcher whose values are names of modules or paths. */
  private static final Set<String> OF_MODULES =
      Set.of(
          "--add-modules",
          "--add-opens",
          "--add-exports",
          "--add-reads",
          "--class-path",
          "--module-path",
          "--upgrade-module-path",
          "--limit-modules",
          "--patch-module",
          "--enable-native-access",
          "--illegal-native-access");

  /** Options of HotSpot whose values are commands to run begin so. */
  private static final String COMMAND = "-XX:On";

  private static final String MARKS_IN_OPTIONS = "_.[]-";

  /** The command of this process. */
  static LaunchCommand ofThisProcess() {
    return parse(ProcFiles.commandLine().orElse(""), System.getProperty("sun.java.command", ""));
  }

  /**
   * Reads what the system tells.
   *
   * @param commandLine the content of {@code /proc/self/cmdline}: words, each ended by a zero
   * @param program the system property {@code sun.java.command}: main class or jar, and arguments
   */
  static LaunchCommand parse(String commandLine, String program) {
    List<String> words = new ArrayList<>(List.of(commandLine.split("\0", -1)));
    words.remove(words.size() - 1);
    int jar = words.indexOf("-jar") + 1;
    boolean isJar = jar > 0 && jar < words.size() && program.startsWith(words.get(jar));
    return new LaunchCommand(words, isJar ? words.get(jar) : program.split(" ", 2)[0]);
  }

  /**
   * The line that starts the program again.
   *
   * @param library the library
   * @param preloaded the present value of {@code LD_PRELOAD}, or empty: what is not ours is kept,
   *     behind ours, because the first malloc in the list is the one that is called
   * @param allowNativeAccess whether the JDK wants {@value #ALLOW_NATIVE_ACCESS}
   */
  String preloading(Path library, String preloaded, boolean allowNativeAccess) {
    StringJoiner list = new StringJoiner(":").add(library.toString());
    for (String entry : preloaded.replace(' ', ':').split(":")) {
      if (!entry.isEmpty() && !entry.contains("libmallometer")) {
        list.add(entry);
      }
    }
    return withOptions(
        list.toString(), allowNativeAccess ? List.of(ALLOW_NATIVE_ACCESS) : List.of());
  }

  /**
   * The line that starts the program again with more options of the JVM.
   *
   * @param preloaded the value that {@code LD_PRELOAD} gets; none if it is empty
   * @param options what the JVM gets first, in place of present values of the same properties
   */
  String withOptions(String preloaded, List<String> options) {
    String start = preloaded.isEmpty() ? "" : "LD_PRELOAD=" + ShellWord.quote(preloaded) + " ";
    String whole = startedByJava() ? start + quoted(line(options)) : "";
    return whole.isEmpty() || whole.length() > LONGEST_LINE
        ? start + quoted(shortLine(options))
        : whole;
  }

  private boolean startedByJava() {
    return words.contains(main) && Path.of(words.get(0)).endsWith("java");
  }

  private static List<String> shortLine(List<String> options) {
    List<String> line = new ArrayList<>();
    line.add("java");
    line.addAll(options);
    line.add(AND_SO_ON);
    return line;
  }

  private List<String> line(List<String> options) {
    int program = words.indexOf(main);
    List<String> line = new ArrayList<>();
    line.add(words.get(0));
    line.addAll(options);
    for (String word : words.subList(1, program)) {
      if (!replacesAny(options, word)) {
        line.add(ofJvm(word));
      }
    }
    line.add(words.get(program));
    line.addAll(ofProgram(words.subList(program + 1, words.size())));
    return line;
  }

  private static List<String> ofProgram(List<String> arguments) {
    List<String> shown = new ArrayList<>();
    for (String word : arguments) {
      boolean option = isOfProgram(word);
      if (option || shown.isEmpty() || !last(shown).equals(AND_SO_ON)) {
        shown.add(option ? withoutValue(word, "--") : AND_SO_ON);
      }
    }
    return shown;
  }

  /** Such as {@code --server.ports[0]=80}. */
  private static boolean isOfProgram(String word) {
    String name = name(word);
    return name.startsWith("--") && isOptionName(name.substring(2));
  }

  private static boolean isOptionName(String name) {
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      boolean plain = c < 128 && Character.isLetterOrDigit(c);
      if (!plain && MARKS_IN_OPTIONS.indexOf(c) < 0) {
        return false;
      }
    }
    return !name.isEmpty();
  }

  private static boolean replacesAny(List<String> options, String word) {
    for (String option : options) {
      if (replaces(option, word)) {
        return true;
      }
    }
    return false;
  }

  /** The latest of several equal properties counts, while launcher options add up. */
  private static boolean replaces(String option, String word) {
    return option.equals(word) || word.startsWith("-D") && name(option).equals(name(word));
  }

  private static String ofJvm(String word) {
    if (word.startsWith("-D")) {
      return withoutValue(word, "-D");
    }
    boolean plain = word.startsWith("-X") && !isCommand(word) || isOfModules(word);
    return plain || !word.startsWith("-") ? word : withoutValue(word, "-");
  }

  private static boolean isCommand(String word) {
    return word.startsWith(COMMAND) && word.indexOf('=') > COMMAND.length();
  }

  private static boolean isOfModules(String word) {
    return word.indexOf('=') > 0 && OF_MODULES.contains(name(word));
  }

  /** Stars what follows the equals sign, unless it or the name behind the prefix is harmless. */
  private static String withoutValue(String option, String prefix) {
    String name = name(option);
    boolean shown =
        name.equals(option)
            || isSwitch(option)
            || HARMLESS.contains(name.substring(prefix.length()));
    return shown ? option : name + "=" + STARS;
  }

  /** Whatever is switched on or off, that much is no secret. */
  private static boolean isSwitch(String option) {
    String name = name(option);
    return !name.isEmpty() && (option.equals(name + "=true") || option.equals(name + "=false"));
  }

  private static String name(String option) {
    return option.split("=", 2)[0];
  }

  private static String last(List<String> words) {
    return words.get(words.size() - 1);
  }

  private static String quoted(List<String> words) {
    StringJoiner quoted = new StringJoiner(" ");
    for (String word : words) {
      quoted.add(ShellWord.quote(word));
    }
    return quoted.toString();
  }
}
