package io.mallometer.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("process")
@Tag("any-jdk")
class GateCommandsTest {

  private static final Path JAR = Path.of(System.getProperty("agent.jar"));

  @TempDir private Path directory;

  @Test
  void exitCodesTellEqualWorseBetterAndNotMeasured() throws IOException {
    Path usual = results("usual.json", "native.alloc.bytes", "B", 1000);
    Path worse = results("worse.json", "native.alloc.bytes", "B", 1300);
    Path better = results("better.json", "native.alloc.bytes", "B", 700);
    Path unit = results("unit.json", "native.alloc.bytes", "KiB", 1000);
    Path gone = results("gone.json", "native.alloc.calls", "calls", 1);
    Path text = Files.writeString(directory.resolve("text.json"), "the grocery list");
    Path missing = directory.resolve("missing.json");
    assertThat(baseline("save", "main", usual.toString()))
        .isEqualTo(
            new ChildJvm.Result(0, "saved 1 samples as main in " + baselines("main.json") + "\n"));

    compare(usual, 0, 0, "1 figures: 0 worse, ");
    compare(worse, 2, 1, "worse  T.test native.alloc.bytes p50: 1300 B, expected 1000, +30 %");
    compare(better, 4, 0, "better T.test native.alloc.bytes p50: 700 B");
    compare(unit, 3, 125, "it is expected in B and was measured in KiB");
    compare(gone, 3, 125, "failed T.test native.alloc.bytes: it was expected and not measured");
    compare(text, 3, 125, "mallometer: " + text + ": the file is not JSON");
    compare(missing, 1, 125, "mallometer: " + missing + " is neither a file nor a baseline");
    assertThat(baseline("compare", "main", "main").exitCode()).isZero();
    assertThat(baseline("list").output()).isEqualTo("main\n");
    assertThat(baseline("delete", "main").exitCode()).isZero();
    compare(usual, 1, 125, "mallometer: there is no baseline main in ");
  }

  private void compare(Path results, int exitCode, int bisectCode, String said) {
    String[] words = {"compare", "main", results.toString(), "--percentiles", "p50"};
    ChildJvm.Result plain = baseline(words);
    ChildJvm.Result bisect =
        baseline(Stream.concat(Stream.of(words), Stream.of("--bisect")).toArray(String[]::new));

    assertThat(plain.exitCode()).as(plain.output()).isEqualTo(exitCode);
    assertThat(plain.output()).contains(said);
    assertThat(bisect).isEqualTo(new ChildJvm.Result(bisectCode, plain.output()));
  }

  @Test
  void thresholdsAreWrittenAndChecked() throws IOException {
    Path usual = results("usual.json", "native.alloc.bytes", "B", 1000);
    Path thresholds = directory.resolve("thresholds");
    String where = "--directory=" + thresholds;
    assertThat(call("thresholds", "check", usual.toString(), where).output())
        .isEqualTo(
            "mallometer: there are no thresholds in "
                + thresholds
                + ". To write them: mallometer thresholds update, or with Maven -Dmallometer.update\n");
    assertThat(call("thresholds", "update", usual.toString(), where))
        .isEqualTo(new ChildJvm.Result(0, thresholds.resolve("T.test.json") + "\n"));
    assertThat(call("thresholds", "check", usual.toString(), where).exitCode()).isZero();

    Path worse = results("worse.json", "native.alloc.bytes", "B", 1030);
    assertThat(call("thresholds", "check", worse.toString(), where).exitCode()).isZero();
    Path report = directory.resolve("report.xml");
    ChildJvm.Result strict =
        call(
            "thresholds",
            "check",
            worse.toString(),
            where,
            "--preset=strict",
            "--absolute=29",
            "--format=junit",
            "-o",
            report.toString());
    assertThat(strict).isEqualTo(new ChildJvm.Result(2, ""));
    assertThat(report).content().contains("tests=\"1\" failures=\"1\"");
  }

  /**
   * An invalid command line must not exit with 2. A build would take this code for a regression,
   * and a bisection would take it for a bad commit.
   */
  @Test
  void whatIsNotUnderstoodIsNoResultAndStopsABisection() throws IOException {
    String file = results("usual.json", "native.alloc.bytes", "B", 1000).toString();
    for (List<String> words :
        List.of(
            List.of("baseline"),
            List.of("baseline", "compare", "--bisect"),
            List.of("baseline", "save", "../main", file),
            List.of("thresholds", "check", file, "--bisect", "--preset", "lax"),
            List.of("thresholds", "check", file, "--format", "html"),
            List.of("thresholds", "check", file, "--relative", "much"))) {
      ChildJvm.Result result = call(words.toArray(String[]::new));

      assertThat(result.exitCode())
          .as(result.output())
          .isEqualTo(words.contains("--bisect") ? 129 : 64);
      assertThat(result.output())
          .contains("Exit codes", "--bisect")
          .containsPattern("\nmallometer: .+\\s*$");
    }
  }

  @Test
  void aCommandThatWasNotBuiltBlamesNoCommit() throws Exception {
    Path copy = Files.createDirectory(directory.resolve("bin")).resolve("mallometer");
    Files.copy(Path.of("../../bin/mallometer"), copy);
    String script = "bash %s thresholds check x %s; echo $?";

    assertThat(run(directory, "sh", "-c", script.formatted(copy, "--bisect")))
        .contains("mallometer-agent.jar is missing")
        .endsWith("\n125\n");
    assertThat(run(directory, "sh", "-c", script.formatted(copy, ""))).endsWith("\n1\n");
  }

  /** The seventh of nine commits leaks a Deflater, and the fifth does not compile. */
  @Test
  void aBisectionFindsTheCommitThatLeaks() throws Exception {
    Path repository = Files.createDirectory(directory.resolve("repository"));
    git(repository, "init", "-q");
    for (int commit = 1; commit <= 9; commit++) {
      Files.writeString(repository.resolve("Codec.java"), codec(commit));
      git(repository, "add", ".");
      git(repository, "commit", "-qm", "Change number " + commit);
    }
    Path test = directory.resolve("test.sh");
    Files.writeString(test, script());
    Path results = directory.resolve("results.json");
    git(repository, "checkout", "-q", "HEAD~8");
    assertThat(run(repository, "sh", test.toString())).contains("there is no baseline good in ");
    assertThat(baseline("save", "good", results.toString()).exitCode()).isZero();

    git(repository, "bisect", "start", "master", "HEAD");
    String log = git(repository, "bisect", "run", "sh", test.toString());

    System.out.println(log);
    assertThat(log)
        .contains("first bad commit", "    Change number 7\n")
        .contains("worse  Codec.encode native.alloc.kept p50: ")
        .contains(results + ": the file is not JSON, or not all of it was written");
    assertThat(git(repository, "bisect", "log")).contains("git bisect skip");
  }

  private static String codec(int commit) {
    return """
        public class Codec {
          static void encode() {
            java.util.zip.Deflater deflater = new java.util.zip.Deflater(%d);
            deflater.setInput(new byte[1000]);
            deflater.finish();
            deflater.deflate(new byte[1000]);
            %s
          }

          public static void main(String[] arguments) {
            try (io.mallometer.Mallometer mallometer = io.mallometer.Mallometer.open()) {
              encode();
              java.util.StringJoiner kept = new java.util.StringJoiner(",", "[", "]");
              for (int i = 0; i < 5; i++) {
                try (io.mallometer.NativeScope scope = mallometer.counting().threadScope()) {
                  encode();
                  kept.add(Long.toString((long) scope.figures().counts().orElseThrow().netBytes()));
                }
              }
              System.out.println(
                  "[{\\"name\\":\\"Codec.encode\\",\\"metric\\":\\"native.alloc.kept\\","
                      + "\\"unit\\":\\"B\\",\\"samples\\":" + kept + "}]");
            }
          }
        }
        """
        .formatted(commit, commit < 7 ? commit == 5 ? "not Java" : "deflater.end();" : "");
  }

  private String script() {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    return """
        LD_PRELOAD=%s %s -cp %s Codec.java > %s
        %s -jar %s baseline compare good %s --directory %s --bisect --absolute 1KiB
        """
        .formatted(
            System.getProperty("library"),
            java,
            System.getProperty("java.class.path"),
            directory.resolve("results.json"),
            java,
            JAR,
            directory.resolve("results.json"),
            baselines("."));
  }

  private static String git(Path repository, String... words)
      throws IOException, InterruptedException {
    String[] git = {
      "git", "-c", "user.name=T", "-c", "user.email=t@example", "-c", "init.defaultBranch=master"
    };
    return run(repository, Stream.concat(Stream.of(git), Stream.of(words)).toArray(String[]::new));
  }

  private static String run(Path where, String... command)
      throws IOException, InterruptedException {
    Path said = Files.createTempFile("said", "");
    Process process =
        new ProcessBuilder(command)
            .directory(where.toFile())
            .redirectErrorStream(true)
            .redirectOutput(said.toFile())
            .start();
    assertThat(process.waitFor(120, TimeUnit.SECONDS)).as(said + " says why").isTrue();
    String output = Files.readString(said);
    Files.delete(said);
    return output;
  }

  private Path baselines(String name) {
    return directory.resolve("baselines").resolve(name);
  }

  private Path results(String file, String metric, String unit, int sample) throws IOException {
    return Files.writeString(
        directory.resolve(file),
        "[{\"name\":\"T.test\",\"metric\":\"%s\",\"unit\":\"%s\",\"samples\":[%d]}]"
            .formatted(metric, unit, sample));
  }

  private ChildJvm.Result baseline(String... words) {
    return call(
        Stream.of(
                Stream.of("baseline"),
                Stream.of(words),
                Stream.of("--directory", directory.resolve("baselines").toString()))
            .flatMap(all -> all)
            .toArray(String[]::new));
  }

  private static ChildJvm.Result call(String... words) {
    return new ChildJvm()
        .withoutOptions()
        .options(CommandLineTest.QUICK.toArray(String[]::new))
        .runJar(JAR, words);
  }
}
