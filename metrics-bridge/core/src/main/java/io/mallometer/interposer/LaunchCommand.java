package io.mallometer.interposer;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How to start this program again with the library: a line for a shell, rebuilt from the words with
 * which the program was really started, so that it can be pasted.
 *
 * <p>The line ends up in logs and on pages, where arguments may be secret. Options are kept, the
 * values of those whose name sounds secret starred; other arguments of the program become three
 * dots. Where no pasteable line exists (the JVM was not started by {@code java}, or its class path
 * fills pages) the three dots stand for everything behind {@code java}.
 *
 * @param words the program, its options and arguments; empty if unknown
 * @param main the jar or class that runs, as one of the words; empty if unknown
 */
record LaunchCommand(List<String> words, String main) {

  static final String ALLOW_NATIVE_ACCESS = "--enable-native-access=ALL-UNNAMED";

  /** Longer lines are class paths of build tools and IDEs that nobody wants to paste. */
  private static final int LONGEST_LINE = 1000;

  private static final String AND_SO_ON = "...";

  private static final String STARS = "******";
  private static final String SECRET = "(?:pass|pwd|secret|token|credential|key|vcap|auth)";

  /** An option, up to and including the equals sign, whose value must not be shown. */
  private static final Pattern SECRET_OPTION =
      Pattern.compile("(?is)(-[^=]*" + SECRET + "[^=]*=).+");

  private static final Pattern SECRET_IN_URL =
      Pattern.compile("(?i)([?&;][^=&;]*" + SECRET + "[^=&;]*=)[^&;]*");
  private static final Pattern PASSWORD_IN_URL = Pattern.compile("(://[^/:@\\s]*:)[^/@\\s]+@");

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
    String start = "LD_PRELOAD=" + ShellWord.quote(list) + " ";
    String whole = startedByJava() ? start + line(allowNativeAccess) : "";
    return whole.isEmpty() || whole.length() > LONGEST_LINE
        ? start + "java " + (allowNativeAccess ? ALLOW_NATIVE_ACCESS + " " : "") + AND_SO_ON
        : whole;
  }

  private boolean startedByJava() {
    return words.contains(main) && Path.of(words.get(0)).endsWith("java");
  }

  private String line(boolean allowNativeAccess) {
    List<String> line = new ArrayList<>();
    int arguments = words.indexOf(main) + 1;
    for (int i = 0; i < words.size(); i++) {
      String word = words.get(i);
      boolean shown = i < arguments || word.startsWith("-");
      if (shown) {
        line.add(ShellWord.quote(withoutSecret(word)));
      } else if (!line.get(line.size() - 1).equals(AND_SO_ON)) {
        line.add(AND_SO_ON);
      }
    }
    if (allowNativeAccess && !words.contains(ALLOW_NATIVE_ACCESS)) {
      line.add(1, ALLOW_NATIVE_ACCESS);
    }
    return String.join(" ", line);
  }

  private static String withoutSecret(String word) {
    String starred = SECRET_OPTION.matcher(word).replaceFirst("$1" + STARS);
    starred = SECRET_IN_URL.matcher(starred).replaceAll("$1" + STARS);
    return PASSWORD_IN_URL.matcher(starred).replaceAll("$1" + STARS + "@");
  }
}
