package io.mallometer.internal.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The library's format and Java's are one: offsets and sizes are those that a C compiler gives. */
@Tag("any-jdk")
class FormatTest {

  private static final Path SOURCES = Path.of("../../interposer/src");

  private static final Map<String, Integer> BELIEVED =
      Map.ofEntries(
          Map.entry("RECORDING_FORMAT", RecordingFormat.FORMAT),
          Map.entry("RECORDING_BYTES", RecordingFormat.FILE_BYTES),
          Map.entry("sizeof(RECORDING_MAGIC)", RecordingFormat.MAGIC.length),
          Map.entry("RECORDING_SAMPLES", RecordingFormat.SAMPLES),
          Map.entry("RECORDING_EXIT", RecordingFormat.EXIT),
          Map.entry("RECORDING_SHUTDOWN", RecordingFormat.SHUTDOWN),
          Map.entry("RECORDING_JVM", RecordingFormat.JVM),
          Map.entry("RECORDING_MINUTES", RecordingFormat.MINUTES),
          Map.entry("RECORDING_CROSSINGS", RecordingFormat.CROSSINGS),
          Map.entry("RECORDING_PROFILES", RecordingFormat.PROFILES),
          Map.entry("RECORDING_INCOMPLETE", RecordingFormat.INCOMPLETE),
          Map.entry("RECORDING_REGIONS", RecordingFormat.REGIONS),
          Map.entry("sizeof(struct recording_region)", RecordingFormat.REGION_BYTES),
          Map.entry("sizeof(struct recording_header)", RecordingFormat.HEADER_BYTES),
          header("format", RecordingFormat.HEADER_FORMAT),
          header("header_bytes", RecordingFormat.HEADER_LENGTH),
          header("file_bytes", RecordingFormat.HEADER_FILE_BYTES),
          header("life", RecordingFormat.HEADER_LIFE),
          header("started_realtime_ns", RecordingFormat.HEADER_STARTED_REALTIME),
          header("started_monotonic_ns", RecordingFormat.HEADER_STARTED_MONOTONIC),
          header("pid", RecordingFormat.HEADER_PID),
          header("process_start_ticks", RecordingFormat.HEADER_START_TICKS),
          header("byte_unit", RecordingFormat.HEADER_BYTE_UNIT),
          header("regions_used", RecordingFormat.HEADER_REGIONS_USED),
          header("cgroup_inode", RecordingFormat.HEADER_CGROUP_INODE),
          header("boot_id", RecordingFormat.HEADER_BOOT_ID),
          header("build", RecordingFormat.HEADER_BUILD),
          header("allocator", RecordingFormat.HEADER_ALLOCATOR),
          header("executable", RecordingFormat.HEADER_EXECUTABLE),
          header("cgroup", RecordingFormat.HEADER_CGROUP),
          header("regions", RecordingFormat.HEADER_REGIONS),
          header("checksum", RecordingFormat.HEADER_CHECKSUM),
          Map.entry("sizeof(struct recording_sample)", RecordingFormat.SAMPLE_BYTES),
          sample("checksum", RecordingFormat.CHECKSUM),
          sample("length", RecordingFormat.LENGTH),
          sample("sequence", RecordingFormat.SEQUENCE),
          sample("realtime_ns", RecordingFormat.REALTIME),
          sample("monotonic_ns", RecordingFormat.MONOTONIC),
          sample("kind", RecordingFormat.KIND),
          sample("flags", RecordingFormat.FLAGS),
          sample("allocations", RecordingFormat.ALLOCATIONS),
          sample("frees", RecordingFormat.FREES),
          sample("requested_bytes", RecordingFormat.REQUESTED_BYTES),
          sample("allocated_bytes", RecordingFormat.ALLOCATED_BYTES),
          sample("freed_bytes", RecordingFormat.FREED_BYTES),
          sample("failed", RecordingFormat.FAILED),
          sample("threads", RecordingFormat.THREADS),
          sample("resident_bytes", RecordingFormat.RESIDENT_BYTES),
          sample("charged_bytes", RecordingFormat.CHARGED_BYTES),
          sample("limit_bytes", RecordingFormat.LIMIT_BYTES),
          sample("file_bytes", RecordingFormat.CACHED_FILE_BYTES),
          sample("oom_kills", RecordingFormat.OOM_KILLS));

  @TempDir private Path directory;

  @Test
  @Tag("process")
  void offsetsAreTheCompilers() throws Exception {
    StringBuilder program =
        new StringBuilder(
            "#include <stdio.h>\n#include \"control/recording_format.h\"\nint main(void) {\n");
    for (String expression : BELIEVED.keySet()) {
      program.append("printf(\"%s=%d\\n\", \"" + expression + "\", (int)(" + expression + "));\n");
    }
    Path source = Files.writeString(directory.resolve("format.c"), program + "return 0;\n}\n");
    Path executable = directory.resolve("format");
    output("gcc", "-I", SOURCES.toString(), "-o", executable.toString(), source.toString());
    Map<String, Integer> compiled = new TreeMap<>();
    for (String line : output(executable.toString()).split("\n")) {
      int equals = line.lastIndexOf('=');
      compiled.put(line.substring(0, equals), Integer.parseInt(line.substring(equals + 1)));
    }
    assertThat(compiled).isEqualTo(new TreeMap<>(BELIEVED));
  }

  @Test
  void regionsDoNotOverlapAndFit() {
    for (RecordingRegion one : RecordingFormat.LAYOUT) {
      long end = one.offset() + (long) one.slots() * one.slotBytes();
      assertThat(one.offset()).isGreaterThanOrEqualTo(RecordingFormat.HEADER_BYTES);
      assertThat(end).isLessThanOrEqualTo(RecordingFormat.FILE_BYTES);
      for (RecordingRegion other : RecordingFormat.LAYOUT) {
        assertThat(other == one || other.offset() >= end || other.offset() < one.offset()).isTrue();
      }
    }
  }

  private static String output(String... command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output;
  }

  private static Map.Entry<String, Integer> header(String field, int offset) {
    return Map.entry("offsetof(struct recording_header, " + field + ")", offset);
  }

  private static Map.Entry<String, Integer> sample(String field, int offset) {
    return Map.entry("offsetof(struct recording_sample, " + field + ")", offset);
  }
}
