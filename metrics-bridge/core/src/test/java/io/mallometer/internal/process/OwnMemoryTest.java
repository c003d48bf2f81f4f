package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.io.IOException;
import java.util.BitSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OwnMemoryTest {

  private static final long PAGE = AddressSpace.PAGE;

  /** More pages than one read of the page table covers. */
  private static final int PAGES = 3_000;

  private static final int READ_WRITE = 3;
  private static final int PRIVATE_ANONYMOUS = 0x22;
  private static final int NO_HUGE_PAGES = 15;

  private final NativeLibrary c = NativeLibrary.getInstance("c");
  private final long start =
      c.getFunction("mmap")
          .invokeLong(
              new Object[] {Pointer.NULL, PAGES * PAGE, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0L});

  @AfterEach
  void unmap() {
    c.getFunction("munmap").invokeInt(new Object[] {new Pointer(start), PAGES * PAGE});
  }

  @Test
  void residentPagesAreThoseThatWereTouched() throws IOException {
    c.getFunction("madvise")
        .invokeInt(new Object[] {new Pointer(start), PAGES * PAGE, NO_HUGE_PAGES});
    BitSet touched = new BitSet();
    for (int page = 0; page < PAGES; page += 7) {
      new Pointer(start + page * PAGE).setByte(0, (byte) 1);
      touched.set(page);
    }

    try (OwnMemory memory = new OwnMemory()) {
      assertThat(memory.residentPages(start, start + PAGES * PAGE)).contains(touched);
      assertThat(memory.residentPages(start + 7 * PAGE, start + 8 * PAGE).orElseThrow())
          .isEqualTo(BitSet.valueOf(new long[] {1}));
      assertThat(memory.residentPages(start, start)).contains(new BitSet());
    }
  }

  @Test
  void wordsAreReadAsTheyLie() throws IOException {
    new Pointer(start + 16).setLong(0, 0x1122334455667788L);

    try (OwnMemory memory = new OwnMemory()) {
      assertThat(memory.word(start + 16)).hasValue(0x1122334455667788L);
      assertThat(memory.word(start + 8)).hasValue(0);
      assertThat(memory.word(0)).isEmpty();
    }
  }
}
