package io.mallometer.agent;

import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;

/**
 * {@code java -jar mallometer-agent.jar COMMAND}.
 *
 * <p>Exit codes: 0 if it worked, 1 if it failed, 2 if the command was not understood, 3 if a file
 * is no black box that can be read. {@code run} exits with the code of the program that it ran.
 */
public final class Main {

  static final int OK = 0;
  static final int FAILURE = 1;
  static final int USAGE = 2;
  static final int NO_BLACK_BOX = 3;

  private static final String HELP =
      """
      java -jar mallometer-agent.jar extract [DIR]
          unpacks libmallometer.so, into DIR or where only this user can write, and prints its path
      java -jar mallometer-agent.jar run [--] COMMAND...
          runs COMMAND with the library preloaded and exits as it exits
      java -jar mallometer-agent.jar report FILE
          prints what a black box (MALLOMETER_BLACKBOX) recorded, and how the process ended
      java -jar mallometer-agent.jar --version | --help
      java -javaagent:mallometer-agent.jar[=port=PORT,host=HOST,record=FILE] ...
          registers the MBean io.mallometer:type=NativeMemory; with a port, serves Prometheus there;
          with a file, records the last hour in it

      Exit codes: 0 it worked, 1 it failed, 2 the command was not understood, 3 the file is no black
      box, or a torn one, or of another version.
      """;

  private Main() {}

  /** Runs a command and exits. */
  public static void main(String[] arguments) {
    System.exit(run(Arrays.asList(arguments), System.out, System.err));
  }

  static int run(List<String> arguments, PrintStream out, PrintStream err) {
    String command = arguments.isEmpty() ? "" : arguments.get(0);
    List<String> rest = arguments.isEmpty() ? arguments : arguments.subList(1, arguments.size());
    try {
      return switch (command) {
        case "extract" -> rest.size() <= 1 ? extract(rest, out) : usage(err);
        case "report" -> rest.size() == 1 ? report(rest.get(0), out) : usage(err);
        case "run" -> runProgram(rest, err);
        case "--version" -> print(out, version());
        case "--help", "-h" -> print(out, HELP.strip());
        default -> usage(err);
      };
    } catch (Exception e) {
      err.println("mallometer: " + (e.getMessage() == null ? e : e.getMessage()));
      return Payload.isUnreadableBox(e) ? NO_BLACK_BOX : FAILURE;
    }
  }

  private static int extract(List<String> directory, PrintStream out) throws Exception {
    return print(out, Payload.load().extract(directory.isEmpty() ? "" : directory.get(0)));
  }

  private static int report(String file, PrintStream out) throws Exception {
    out.print(Payload.load().report(file));
    return OK;
  }

  private static int runProgram(List<String> words, PrintStream err) throws Exception {
    List<String> command =
        !words.isEmpty() && words.get(0).equals("--") ? words.subList(1, words.size()) : words;
    return command.isEmpty()
        ? usage(err)
        : PreloadedProgram.run(command, Payload.load().extract(""));
  }

  private static String version() {
    String version = Main.class.getPackage().getImplementationVersion();
    return "mallometer " + (version == null ? "unknown" : version);
  }

  private static int print(PrintStream out, String text) {
    out.println(text);
    return OK;
  }

  private static int usage(PrintStream err) {
    err.print(HELP);
    return USAGE;
  }
}
