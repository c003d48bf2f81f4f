package io.mallometer.agent.command;

import io.mallometer.internal.gate.UnusableResultsException;
import io.mallometer.internal.history.UnreadableRecordingException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete.GenerateCompletion;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command line: its commands and the handling of their failures. */
@Command(
    name = "mallometer",
    description = "Shows where a JVM's native memory goes.",
    mixinStandardHelpOptions = true,
    versionProvider = Commands.Build.class,
    synopsisSubcommandLabel = "COMMAND",
    exitCodeListHeading = "%nExit codes:%n",
    scope = CommandLine.ScopeType.INHERIT,
    subcommands = {
      RunCommand.class,
      ExtractCommand.class,
      TopCommand.class,
      ReportCommand.class,
      LeaksCommand.class,
      BundleCommand.class,
      DiffCommand.class,
      BaselineCommand.class,
      ThresholdsCommand.class,
      TrimCommand.class,
      OwnersCommand.class,
      AttachCommand.class,
      DetachCommand.class,
      PhaseCommand.class,
      DoctorCommand.class,
      GenerateCompletion.class
    },
    footer = {
      "",
      "As an agent: java -javaagent:mallometer-agent.jar=port=9464,host=127.0.0.1 -jar app.jar",
      "Completion for bash, and for zsh after autoload -U compinit bashcompinit; compinit;"
          + " bashcompinit: source <(mallometer generate-completion)"
    })
public final class Commands implements Runnable {

  private static final int ABI = 1;

  private static final String FULL = "No space left on device";

  /** The JDK's message for an answer that is shorter than announced. */
  private static final String CUT_OFF = "Premature EOF";

  private static volatile String version = "unknown";

  @Spec private CommandSpec specification = CommandSpec.create();

  private Commands() {}

  /** Returns how the user called this program, such as {@code bin/mallometer}. */
  static String called() {
    @Nullable String script = System.getProperty("mallometer.command");
    return script != null ? script : "java -jar " + Target.jar();
  }

  static String version() {
    return version;
  }

  static final class Build implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {"mallometer " + version + ", interface " + ABI};
    }
  }

  @Override
  public void run() {
    throw new ParameterException(specification.commandLine(), "which command?");
  }

  /**
   * Runs a command.
   *
   * @param build the agent's version
   * @return the exit code
   */
  public static int run(List<String> arguments, String build) {
    version = build;
    // JLine uses the context class loader to load its parts.
    Thread.currentThread().setContextClassLoader(Commands.class.getClassLoader());
    CommandLine line = new CommandLine(new Commands());
    line.getSubcommands().get("generate-completion").getCommandSpec().usageMessage().hidden(true);
    // The command `run` passes all words after the program's name to the program, even if they
    // begin with a hyphen.
    line.getSubcommands().get("run").setStopAtPositional(true);
    exits(line, ExitCode.meanings());
    line.setErr(new PrintWriter(System.err, true, StandardCharsets.UTF_8));
    line.setUsageHelpAutoWidth(true);
    line.setExecutionExceptionHandler((e, command, result) -> failed(e));
    line.setParameterExceptionHandler((e, words) -> misunderstood(e, words));
    return line.execute(arguments.toArray(String[]::new));
  }

  private static void exits(CommandLine line, Map<String, String> meanings) {
    line.getCommandSpec().usageMessage().exitCodeList(meanings);
    line.getSubcommands().values().forEach(below -> exits(below, meanings));
  }

  private static int misunderstood(ParameterException e, String[] words) {
    // The message stands last, because the usage is longer than a terminal is high.
    e.getCommandLine().usage(System.err);
    System.err.println("mallometer: " + oneLine(String.valueOf(e.getMessage())));
    return List.of(words).contains("--bisect") ? ExitCode.BISECT_USAGE : ExitCode.USAGE;
  }

  private static int failed(Exception e) {
    if (isClosedPipe(e)) {
      return ExitCode.CLOSED_PIPE;
    }
    String message = e.getMessage() == null ? e.toString() : e.getMessage();
    if (message.equals(FULL)) {
      message =
          "the output cannot be written: "
              + FULL
              + "; write it to another place with --output FILE";
    } else if (message.equals(CUT_OFF)) {
      message = "the answer is cut off; if the process was killed, read its recording";
    }
    System.err.println("mallometer: " + oneLine(message));
    if (e instanceof Failure failure) {
      return failure.exitCode();
    }
    return e instanceof UnreadableRecordingException || e instanceof UnusableResultsException
        ? ExitCode.UNREADABLE
        : ExitCode.FAILED;
  }

  private static boolean isClosedPipe(Exception e) {
    return e instanceof IOException && "Broken pipe".equals(e.getMessage());
  }

  private static String oneLine(String text) {
    return text.replaceAll("\\s*\\R\\s*", " ").replaceAll("[\\p{Cc}\\p{Cf}]", "?");
  }
}
