package io.mallometer.internal.symbol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class MappedModulesTest {

  private static final String MAPS =
      """
      00400000-00401000 r--p 00000000 08:01 11 /usr/bin/program
      00401000-00409000 r-xp 00001000 08:01 11 /usr/bin/program
      00409000-0040b000 rw-p 00009000 08:01 11 /usr/bin/program
      7f0000000000-7f0000001000 r--p 00000000 08:01 12 /tmp/my lib.so (deleted)
      7f0000001000-7f0000003000 r-xp 00001000 08:01 12 /tmp/my lib.so (deleted)
      7f0000003000-7f0000004000 rw-p 00000000 00:00 0
      7f0000004000-7f0000005000 rw-p 00003000 08:01 12 /tmp/my lib.so (deleted)
      7f0000100000-7f0000200000 r--s 00000000 08:01 13 /usr/share/locale.archive
      7f0000300000-7f0000310000 rwxp 00000000 00:00 0
      7f0000400000-7f0000401000 r-xp 00000000 08:01 14 /lib/twice.so
      7f0000500000-7f0000501000 r-xp 00000000 08:01 14 /lib/twice.so
      nonsense
      zzzz-yyyy r-xp 00000000 08:01 15 /lib/nonsense.so
      7fff00000000-7fff00001000 r-xp 00000000 00:00 0 [vdso]
      """;

  @Test
  void filesWithCodeAreModules() {
    assertThat(MappedModules.in(MAPS, Optional.empty()))
        .containsExactly(
            module(0x400000L, 0x40b000L, "/usr/bin/program"),
            module(0x7f0000000000L, 0x7f0000005000L, "/tmp/my lib.so (deleted)"),
            module(0x7f0000400000L, 0x7f0000401000L, "/lib/twice.so"),
            module(0x7f0000500000L, 0x7f0000501000L, "/lib/twice.so"));
  }

  @Test
  void whatIsAtHomeAtFixedAddressesWasNotMoved() {
    ArrayBytes memory = new ArrayBytes(new byte[64], 0x400000L);
    memory.bytes()[16] = 2;

    assertThat(MappedModules.in(MAPS, Optional.of(memory)))
        .extracting(RecordedModule::bias)
        .containsExactly(0L, 0x7f0000000000L, 0x7f0000400000L, 0x7f0000500000L);
  }

  private static RecordedModule module(long begin, long end, String path) {
    return new RecordedModule(begin, end, begin, path, "");
  }
}
