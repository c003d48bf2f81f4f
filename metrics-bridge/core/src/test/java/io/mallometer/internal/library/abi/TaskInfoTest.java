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
    return struct;
  }

  @Test
  void theFiguresLieWhereTheHeaderSays() {
    assertThat(TaskInfo.decode(struct(), TaskInfo.WORDS)).hasValue(310_000_000);
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
    assertThat(TaskInfo.residentBytes()).isEmpty();
  }

  /**
   * The build for macOS checks {@link TaskInfo#RESIDENT} and {@link TaskInfo#WORDS} against Apple's
   * header, by static assertions with the same numbers.
   */
  @Test
  void theBuildOfTheLibraryComparesTheSamePlaces() throws Exception {
    String source =
        Files.readString(Path.of("../../interposer/src/platform/darwin_process.c"))
            .replaceAll("\\s+", " ");

    assertThat(source)
        .contains("offsetof(task_vm_info_data_t, resident_size) == " + TaskInfo.RESIDENT)
        .contains("TASK_VM_INFO_REV1_COUNT == " + TaskInfo.WORDS);
  }
}
