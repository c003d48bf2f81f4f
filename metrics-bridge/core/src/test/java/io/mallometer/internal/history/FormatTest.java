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
          Map.entry("BOX_FORMAT", BoxFormat.FORMAT),
          Map.entry("BOX_BYTES", BoxFormat.FILE_BYTES),
          Map.entry("sizeof(BOX_MAGIC)", BoxFormat.MAGIC.length),
          Map.entry("BOX_SAMPLES", BoxFormat.SAMPLES),
          Map.entry("BOX_EXIT", BoxFormat.EXIT),
          Map.entry("BOX_SHUTDOWN", BoxFormat.SHUTDOWN),
          Map.entry("BOX_JVM", BoxFormat.JVM),
          Map.entry("BOX_MINUTES", BoxFormat.MINUTES),
          Map.entry("BOX_CROSSINGS", BoxFormat.CROSSINGS),
          Map.entry("BOX_PROFILES", BoxFormat.PROFILES),
          Map.entry("BOX_INCOMPLETE", BoxFormat.INCOMPLETE),
          Map.entry("BOX_REGIONS", BoxFormat.REGIONS),
          Map.entry("sizeof(struct box_region)", BoxFormat.REGION_BYTES),
          Map.entry("sizeof(struct box_header)", BoxFormat.HEADER_BYTES),
          header("format", BoxFormat.HEADER_FORMAT),
          header("header_bytes", BoxFormat.HEADER_LENGTH),
          header("file_bytes", BoxFormat.HEADER_FILE_BYTES),
          header("life", BoxFormat.HEADER_LIFE),
          header("started_realtime_ns", BoxFormat.HEADER_STARTED_REALTIME),
          header("started_monotonic_ns", BoxFormat.HEADER_STARTED_MONOTONIC),
          header("pid", BoxFormat.HEADER_PID),
          header("process_start_ticks", BoxFormat.HEADER_START_TICKS),
          header("byte_unit", BoxFormat.HEADER_BYTE_UNIT),
          header("regions_used", BoxFormat.HEADER_REGIONS_USED),
          header("cgroup_inode", BoxFormat.HEADER_CGROUP_INODE),
          header("boot_id", BoxFormat.HEADER_BOOT_ID),
          header("build", BoxFormat.HEADER_BUILD),
          header("allocator", BoxFormat.HEADER_ALLOCATOR),
          header("executable", BoxFormat.HEADER_EXECUTABLE),
          header("cgroup", BoxFormat.HEADER_CGROUP),
          header("regions", BoxFormat.HEADER_REGIONS),
          header("checksum", BoxFormat.HEADER_CHECKSUM),
          Map.entry("sizeof(struct box_sample)", BoxFormat.SAMPLE_BYTES),
          sample("checksum", BoxFormat.CHECKSUM),
          sample("length", BoxFormat.LENGTH),
          sample("sequence", BoxFormat.SEQUENCE),
          sample("realtime_ns", BoxFormat.REALTIME),
          sample("monotonic_ns", BoxFormat.MONOTONIC),
          sample("kind", BoxFormat.KIND),
          sample("flags", BoxFormat.FLAGS),
          sample("allocations", BoxFormat.ALLOCATIONS),
          sample("frees", BoxFormat.FREES),
          sample("requested_bytes", BoxFormat.REQUESTED_BYTES),
          sample("allocated_bytes", BoxFormat.ALLOCATED_BYTES),
          sample("freed_bytes", BoxFormat.FREED_BYTES),
          sample("failed", BoxFormat.FAILED),
          sample("threads", BoxFormat.THREADS),
          sample("resident_bytes", BoxFormat.RESIDENT_BYTES),
          sample("charged_bytes", BoxFormat.CHARGED_BYTES),
          sample("limit_bytes", BoxFormat.LIMIT_BYTES),
          sample("file_bytes", BoxFormat.CACHED_FILE_BYTES),
          sample("oom_kills", BoxFormat.OOM_KILLS));

  @TempDir private Path directory;

  @Test
  @Tag("process")
  void offsetsAreTheCompilers() throws Exception {
    StringBuilder program =
        new StringBuilder(
            "#include <stdio.h>\n#include \"control/black_box_format.h\"\nint main(void) {\n");
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
    for (BoxRegion one : BoxFormat.LAYOUT) {
      long end = one.offset() + (long) one.slots() * one.slotBytes();
      assertThat(one.offset()).isGreaterThanOrEqualTo(BoxFormat.HEADER_BYTES);
      assertThat(end).isLessThanOrEqualTo(BoxFormat.FILE_BYTES);
      for (BoxRegion other : BoxFormat.LAYOUT) {
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
    return Map.entry("offsetof(struct box_header, " + field + ")", offset);
  }

  private static Map.Entry<String, Integer> sample(String field, int offset) {
    return Map.entry("offsetof(struct box_sample, " + field + ")", offset);
  }
}
