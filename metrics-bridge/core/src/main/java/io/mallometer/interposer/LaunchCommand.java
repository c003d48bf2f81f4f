package io.mallometer.interposer;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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

  /** Whatever is switched on or off, that much is no secret. */
  private static final Pattern SWITCH = Pattern.compile("[^=]+=(true|false)");

  /** Options of the launcher whose values are names of modules or paths. */
  private static final Pattern OF_MODULES =
      Pattern.compile(
          "--(add-(modules|opens|exports|reads)|(class|module|upgrade-module)-path|limit-modules"
              + "|patch-module|(enable|illegal)-native-access)=.*");

  /** Options of HotSpot whose values are commands to run. */
  private static final Pattern COMMAND = Pattern.compile("-XX:On\\w+=.*", Pattern.DOTALL);

  private static final Pattern OF_PROGRAM =
      Pattern.compile("--[\\w.\\[\\]-]+(=.*)?", Pattern.DOTALL);

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
    String list =
        Stream.concat(
                Stream.of(library.toString()),
                Arrays.stream(preloaded.split("[: ]+"))
                    .filter(entry -> !entry.isEmpty() && !entry.contains("libmallometer")))
            .collect(Collectors.joining(":"));
    return withOptions(list, allowNativeAccess ? List.of(ALLOW_NATIVE_ACCESS) : List.of());
  }

  /**
   * The line that starts the program again with more options of the JVM.
   *
   * @param preloaded the value that {@code LD_PRELOAD} gets; none if it is empty
   * @param options what the JVM gets first, in place of present values of the same properties
   */
  String withOptions(String preloaded, List<String> options) {
    String start = preloaded.isEmpty() ? "" : "LD_PRELOAD=" + ShellWord.quote(preloaded) + " ";
    String whole = startedByJava() ? start + line(options) : "";
    return whole.isEmpty() || whole.length() > LONGEST_LINE
        ? start + quoted(Stream.of(List.of("java"), options, List.of(AND_SO_ON)))
        : whole;
  }

  private boolean startedByJava() {
    return words.contains(main) && Path.of(words.get(0)).endsWith("java");
  }

  private String line(List<String> options) {
    int program = words.indexOf(main);
    Stream<String> ofJvm =
        words.subList(1, program).stream()
            .filter(word -> options.stream().noneMatch(option -> replaces(option, word)))
            .map(LaunchCommand::ofJvm);
    List<String> arguments = new ArrayList<>();
    for (String word : words.subList(program + 1, words.size())) {
      boolean option = OF_PROGRAM.matcher(word).matches();
      if (option || arguments.isEmpty() || !last(arguments).equals(AND_SO_ON)) {
        arguments.add(option ? withoutValue(word, "--") : AND_SO_ON);
      }
    }
    return quoted(
        Stream.of(
            List.of(words.get(0)),
            options,
            ofJvm.toList(),
            List.of(words.get(program)),
            arguments));
  }

  /** The latest of several equal properties counts, while launcher options add up. */
  private static boolean replaces(String option, String word) {
    return option.equals(word) || word.startsWith("-D") && name(option).equals(name(word));
  }

  private static String ofJvm(String word) {
    if (word.startsWith("-D")) {
      return withoutValue(word, "-D");
    }
    boolean plain =
        word.startsWith("-X") && !COMMAND.matcher(word).matches()
            || OF_MODULES.matcher(word).matches();
    return plain || !word.startsWith("-") ? word : withoutValue(word, "-");
  }

  /** Stars what follows the equals sign, unless it or the name behind the prefix is harmless. */
  private static String withoutValue(String option, String prefix) {
    String name = name(option);
    boolean shown =
        name.equals(option)
            || SWITCH.matcher(option).matches()
            || HARMLESS.contains(name.substring(prefix.length()));
    return shown ? option : name + "=" + STARS;
  }

  private static String name(String option) {
    return option.split("=", 2)[0];
  }

  private static String last(List<String> words) {
    return words.get(words.size() - 1);
  }

  private static String quoted(Stream<List<String>> words) {
    return words.flatMap(List::stream).map(ShellWord::quote).collect(Collectors.joining(" "));
  }
}
