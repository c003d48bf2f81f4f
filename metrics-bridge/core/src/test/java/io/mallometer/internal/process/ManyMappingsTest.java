package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import io.mallometer.ChildJvm;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.Snapshot;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests splitting the resident set of a process that has nearly as many mappings as the kernel
 * allows (65,530).
 */
@Tag("process")
@Tag("any-jdk")
class ManyMappingsTest {

  private static final int PAGES = 62_000;

  @Test
  void theyAreSplitLikeAnyOther() {
    String output = new ChildJvm().run(Program.class).output();

    System.out.print(output);
    assertThat(output).contains("adds up: true, many: true").doesNotContain("false");
  }

  static final class Program {

    private static final long PAGE = AddressSpace.PAGE;
    private static final int READ_WRITE = 3;
    private static final int PRIVATE_ANONYMOUS = 0x22;

    private Program() {}

    public static void main(String[] arguments) {
      NativeLibrary c = NativeLibrary.getInstance("c");
      long start =
          c.getFunction("mmap")
              .invokeLong(
                  new Object[] {Pointer.NULL, PAGES * PAGE, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0L});
      Function protect = c.getFunction("mprotect");
      for (int page = 0; page < PAGES; page += 2) {
        new Pointer(start + page * PAGE).setByte(0, (byte) 1);
        protect.invokeInt(new Object[] {new Pointer(start + page * PAGE), PAGE, 0});
      }
      long[] hours = {0};
      ProcessMemorySource source =
          new ProcessMemorySource(
              new ProcessFiles(),
              () -> hours[0]++ * ProcessMemorySource.LONGEST_SPLIT_NANOS,
              Pause::processorNanos);
      Snapshot nothing =
          Snapshot.absent(Instant.EPOCH, new Status(State.UNAVAILABLE, "not preloaded", ""));
      for (int i = 0; i < 2; i++) {
        print(source.read(() -> nothing, OptionalLong.empty(), List::of).resident().orElseThrow());
      }
    }

    private static void print(ResidentMemory split) {
      long sum = split.parts().values().stream().mapToLong(bytes -> bytes).sum();
      System.out.printf(
          "adds up: %s, many: %s, %d mappings, %.0f ms of processor time%n",
          sum == split.totalBytes(),
          split.mappings() >= PAGES,
          split.mappings(),
          split.costSeconds() * 1e3);
    }
  }
}
