package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import io.mallometer.model.ResidentMemory.HugePages;
import io.mallometer.model.Snapshot;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class HugePagesTest {

  private static final long MIB = 1 << 20;
  private static final long BLOCK = 2 * MIB;
  private static final int READ_WRITE = 3;
  private static final int PRIVATE_ANONYMOUS = 0x22;
  private static final int HUGE = 14;

  private static final Status NO_STATUS = new Status(State.UNAVAILABLE, "", "");

  private final NativeLibrary c = NativeLibrary.getInstance("c");

  /** The bytes are 0 on a kernel without transparent huge pages. */
  @Test
  void aReadingOfThisProcessTellsItsHugePages() {
    long large = mapped(64 * MIB);
    for (long offset = 0; offset < 64 * MIB; offset += BLOCK) {
      new Pointer(large + offset).setByte(0, (byte) 1);
    }
    boolean has = Files.exists(Path.of("/sys/kernel/mm/transparent_hugepage"));

    HugePages found =
        new ProcessMemorySource(new ProcessFiles(), System::nanoTime, System::nanoTime)
            .read(() -> Snapshot.absent(Instant.EPOCH, NO_STATUS), OptionalLong.empty(), List::of)
            .resident()
            .orElseThrow()
            .hugePages()
            .orElseThrow();

    assertThat(found.sentence()).contains("transparent huge pages");
    if (!has) {
      assertThat(found.bytes()).isZero();
    } else if (mappingAt(large).hugeBytes() == 64 * MIB) {
      assertThat(found.bytes()).isGreaterThanOrEqualTo(64 * MIB);
      assertThat(found.sentence()).contains(" of the resident set is in ").endsWith(" %).");
    }
  }

  /**
   * Maps memory for the life of the process. Inaccessible pages on both sides keep the kernel from
   * merging it with other mappings.
   */
  private long mapped(long bytes) {
    long raw =
        c.getFunction("mmap")
            .invokeLong(
                new Object[] {Pointer.NULL, bytes + 2 * BLOCK, 0, PRIVATE_ANONYMOUS, -1, 0L});
    long start = (raw + BLOCK) / BLOCK * BLOCK;
    assertThat(
            c.getFunction("mprotect")
                .invokeInt(new Object[] {new Pointer(start), bytes, READ_WRITE}))
        .isZero();
    c.getFunction("madvise").invokeInt(new Object[] {new Pointer(start), bytes, HUGE});
    return start;
  }

  private static Mapping mappingAt(long address) {
    List<Mapping> all = new ProcessFiles().mappings().orElseThrow();
    return all.stream().filter(mapping -> mapping.end() > address).findFirst().orElseThrow();
  }
}
