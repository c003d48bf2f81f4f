package io.mallometer.internal.library.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

class TaskInfoTest {

  /** Returns a structure made by hand, as no Mac was available to capture one. */
  private static ByteBuffer struct() {
    ByteBuffer struct = ByteBuffer.allocate(4 * TaskInfo.WORDS).order(ByteOrder.LITTLE_ENDIAN);
    struct.putLong(0, 420_000_000_000L); // virtual_size
    struct.putInt(8, 1200); // region_count
    struct.putInt(12, 16384); // page_size
    struct.putLong(16, 310_000_000L); // resident_size
    struct.putLong(24, 330_000_000L); // resident_size_peak
    struct.putLong(120, 40_000_000L); // compressed
    struct.putLong(144, 290_000_000L); // phys_footprint
    return struct;
  }

  @Test
  void theFiguresLieWhereTheHeaderSays() {
    TaskInfo.Figures figures = TaskInfo.decode(struct(), TaskInfo.WORDS).orElseThrow();

    assertThat(figures).isEqualTo(new TaskInfo.Figures(310_000_000, 40_000_000, 290_000_000));
  }

  @Test
  void aKernelThatWritesMoreIsUnderstood() {
    ByteBuffer longer = ByteBuffer.allocate(400);
    longer.put(0, struct().array());

    assertThat(TaskInfo.decode(longer, 93)).isPresent();
  }

  @Test
  void aKernelThatWritesLessTellsNothing() {
    assertThat(TaskInfo.decode(struct(), TaskInfo.WORDS - 2)).isEmpty();
    assertThat(TaskInfo.decode(ByteBuffer.allocate(16), TaskInfo.WORDS)).isEmpty();
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void whereThereIsNoSuchFunctionNothingIsTold() {
    assertThat(TaskInfo.read()).isEmpty();
  }

  /** The build for macOS compares these offsets with Apple's header. */
  @Test
  void theBuildOfTheLibraryComparesTheSamePlaces() throws Exception {
    String source =
        Files.readString(Path.of("../../interposer/src/platform/darwin_process.c"))
            .replaceAll("\\s+", " ");

    assertThat(source)
        .contains("TASK_INFO_HAS(resident_size, " + TaskInfo.RESIDENT + ")")
        .contains("TASK_INFO_HAS(compressed, " + TaskInfo.COMPRESSED + ")")
        .contains("TASK_INFO_HAS(phys_footprint, " + TaskInfo.FOOTPRINT + ")")
        .contains("TASK_VM_INFO_REV1_COUNT == " + TaskInfo.WORDS);
  }
}
