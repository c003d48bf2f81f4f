package io.mallometer.agent;

import static org.assertj.core.api.Assertions.assertThat;

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
class GateCommandsTest extends CommandRuns {

  @TempDir private Path files;

  @Test
  void exitCodesTellEqualWorseBetterAndNotMeasured() throws Exception {
    Path usual = results("usual.json", "native.alloc.bytes", "B", 1000);
    Path worse = results("worse.json", "native.alloc.bytes", "B", 1300);
    Path better = results("better.json", "native.alloc.bytes", "B", 700);
    Path unit = results("unit.json", "native.alloc.bytes", "KiB", 1000);
    Path gone = results("gone.json", "native.alloc.calls", "calls", 1);
    Path text = Files.writeString(files.resolve("text.json"), "the grocery list");
    Path missing = files.resolve("missing.json");
    assertThat(baseline("save", "main", usual.toString()))
        .isEqualTo(
            new Result(0, "saved 1 samples as main in " + baselines("main.json") + "\n", ""));

    compare(usual, 0, 0, "1 figures: 0 worse, ");
    compare(worse, 2, 1, "worse  T.test native.alloc.bytes p50: 1300 B, expected 1000, +30 %");
    compare(better, 4, 0, "better T.test native.alloc.bytes p50: 700 B");
    compare(unit, 3, 125, "it is expected in B and was measured in KiB");
    compare(gone, 3, 125, "failed T.test native.alloc.bytes: it was expected and not measured");
    compare(text, 3, 125, "mallometer: " + text + ": the file is not JSON");
    compare(missing, 1, 125, "mallometer: " + missing + " is neither a file nor a baseline");
    assertThat(baseline("compare", "main", "main").exitCode()).isZero();
    assertThat(baseline("list").out()).isEqualTo("main\n");
    assertThat(baseline("delete", "main").exitCode()).isZero();
    compare(usual, 1, 125, "mallometer: there is no baseline main in ");
  }

  private void compare(Path results, int exitCode, int bisectCode, String said) throws Exception {
    List<String> words = List.of("compare", "main", results.toString(), "--percentiles", "p50");
    Result plain = baseline(words.toArray(String[]::new));
    Result bisect = baseline(with(words, "--bisect").toArray(String[]::new));

    assertThat(plain.exitCode()).as(plain.err()).isEqualTo(exitCode);
    assertThat(plain.out() + plain.err()).contains(said);
    assertThat(bisect).isEqualTo(new Result(bisectCode, plain.out(), plain.err()));
  }

  @Test
  void thresholdsAreWrittenAndChecked() throws Exception {
    Path usual = results("usual.json", "native.alloc.bytes", "B", 1000);
    Path thresholds = files.resolve("thresholds");
    String where = "--directory=" + thresholds;
    assertThat(call("thresholds", "check", usual.toString(), where).err())
        .isEqualTo(
            "mallometer: there are no thresholds in "
                + thresholds
                + ". To write them: mallometer thresholds update, or with Maven -Dmallometer.update\n");
    assertThat(call("thresholds", "update", usual.toString(), where))
        .isEqualTo(new Result(0, thresholds.resolve("T.test.json") + "\n", ""));
    assertThat(call("thresholds", "check", usual.toString(), where).exitCode()).isZero();

    Path worse = results("worse.json", "native.alloc.bytes", "B", 1030);
    assertThat(call("thresholds", "check", worse.toString(), where).exitCode()).isZero();
    Path report = files.resolve("report.xml");
    Result strict =
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
    assertThat(strict).isEqualTo(new Result(2, "", ""));
    assertThat(report).content().contains("tests=\"1\" failures=\"1\"");
  }

  /**
   * An invalid command line must not exit with 2. A build would take this code for a regression,
   * and a bisection would take it for a bad commit.
   */
  @Test
  void whatIsNotUnderstoodIsNoResultAndStopsABisection() throws Exception {
    String file = results("usual.json", "native.alloc.bytes", "B", 1000).toString();
    for (List<String> words :
        List.of(
            List.of("baseline"),
            List.of("baseline", "compare", "--bisect"),
            List.of("baseline", "save", "../main", file),
            List.of("thresholds", "check", file, "--bisect", "--preset", "lax"),
            List.of("thresholds", "check", file, "--format", "html"),
            List.of("thresholds", "check", file, "--relative", "much"))) {
      Result result = call(words.toArray(String[]::new));

      assertThat(result.exitCode())
          .as(result.err())
          .isEqualTo(words.contains("--bisect") ? 129 : 64);
      assertThat(result.err())
          .contains("Exit codes", "--bisect")
          .containsPattern("\nmallometer: .+\\s*$");
    }
  }

  @Test
  void aCommandThatWasNotBuiltBlamesNoCommit() throws Exception {
    Path copy = Files.createDirectory(files.resolve("bin")).resolve("mallometer");
    Files.copy(Path.of("../../bin/mallometer"), copy);
    String script = "bash %s thresholds check x %s; echo $?";

    assertThat(run(files, "sh", "-c", script.formatted(copy, "--bisect")))
        .contains("mallometer-agent.jar is missing")
        .endsWith("\n125\n");
    assertThat(run(files, "sh", "-c", script.formatted(copy, ""))).endsWith("\n1\n");
  }

  /**
   * The fifth of six commits leaks a Deflater, and the third does not compile. Git tests the third,
   * the fourth and the fifth.
   */
  @Test
  void aBisectionFindsTheCommitThatLeaks() throws Exception {
    Path repository = Files.createDirectory(files.resolve("repository"));
    git(repository, "init", "-q");
    for (int commit = 1; commit <= 6; commit++) {
      Files.writeString(repository.resolve("Codec.java"), codec(commit));
      git(repository, "add", ".");
      git(repository, "commit", "-qm", "Change number " + commit);
    }
    Path test = files.resolve("test.sh");
    Files.writeString(test, script());
    Path results = files.resolve("results.json");
    git(repository, "checkout", "-q", "HEAD~5");
    assertThat(run(repository, "sh", test.toString())).contains("there is no baseline good in ");
    assertThat(baseline("save", "good", results.toString()).exitCode()).isZero();

    git(repository, "bisect", "start", "master", "HEAD");
    String log = git(repository, "bisect", "run", "sh", test.toString());

    System.out.println(log);
    assertThat(log)
        .contains("first bad commit", "    Change number 5\n")
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
        .formatted(commit, commit < 5 ? commit == 3 ? "not Java" : "deflater.end();" : "");
  }

  private String script() {
    String java = JAVA + " " + String.join(" ", QUICK);
    return """
        LD_PRELOAD=%s %s -cp %s Codec.java > %s
        %s -jar %s baseline compare good %s --directory %s --bisect --absolute 1KiB
        """
        .formatted(
            System.getProperty("library"),
            java,
            System.getProperty("java.class.path"),
            files.resolve("results.json"),
            java,
            JAR,
            files.resolve("results.json"),
            baselines(""));
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
    return files.resolve("baselines").resolve(name);
  }

  private Path results(String file, String metric, String unit, int sample) throws IOException {
    return Files.writeString(
        files.resolve(file),
        "[{\"name\":\"T.test\",\"metric\":\"%s\",\"unit\":\"%s\",\"samples\":[%d]}]"
            .formatted(metric, unit, sample));
  }

  private Result baseline(String... words) throws Exception {
    return call(
        with(with(List.of("baseline"), words), "--directory", baselines("").toString())
            .toArray(String[]::new));
  }
}
