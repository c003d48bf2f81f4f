package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.CpuTime;
import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("any-jdk")
class SmapsTest {

  @Test
  void readsEveryMappingOfARealProcess() {
    List<Mapping> mappings = Captured.mappings(Captured.text("smaps-linux-6.18-jdk17-g1.txt"));

    assertThat(mappings).hasSize(210);
    assertThat(mappings.stream().mapToLong(Mapping::residentBytes).sum()).isEqualTo(48_880 * 1024);
    assertThat(mappings.get(0))
        .isEqualTo(
            new Mapping(
                0xf0000000L, 0xffe00000L, Access.WRITABLE, true, "", 3016 * 1024, false, 0, 0));
    assertThat(mappings)
        .filteredOn(mapping -> mapping.name().equals("[heap]"))
        .singleElement()
        .extracting(Mapping::residentBytes)
        .isEqualTo(116L * 1024);
    assertThat(mappings).filteredOn(Mapping::noReserve).hasSize(42);
  }

  @Test
  void namesKeepTheirBlanks() {
    assertThat(
            Captured.mappings(
                "7f0000000000-7f0000001000 r-xp 00000000 08:01 1234   /opt/my app/lib x.so (deleted)\n"
                    + "Rss:                   4 kB\n"))
        .containsExactly(
            Mappings.of(
                0x7f0000000000L,
                0x7f0000001000L,
                "r-xp",
                "/opt/my app/lib x.so (deleted)",
                4096,
                false));
  }

  /**
   * The copied pages are classes of the class data archive and relocated data of libraries.
   * Anonymous mappings have no copied pages.
   */
  @Test
  void copiesOfFilePagesAreKnown() {
    assertThat(
            Captured.mappings(Captured.text("smaps-linux-6.18-jdk17-g1.txt")).stream()
                .mapToLong(Mapping::copiedBytes)
                .sum())
        .isEqualTo(11_448 * 1024);
  }

  /**
   * ZGC maps each page of the heap at three addresses. The Pss of each mapping is therefore a third
   * of its Rss.
   */
  @Test
  void aPageOfZgcsHeapCountsOnceIfAsked() throws IOException {
    String view =
        "-%s00000 rw-s 00000000 00:01 7 /memfd:java_heap (deleted)\nRss: 12 kB\nPss: 4 kB\n";
    String library = "00700000-00800000 r-xp 00000000 08:01 8 /lib/libz.so\nRss: 8 kB\nPss: 2 kB\n";
    String text = "00100000" + view.formatted("002") + "00300000" + view.formatted("004") + library;

    assertThat(Captured.mappings(text))
        .extracting(Mapping::residentBytes)
        .containsExactly(12_288L, 12_288L, 8_192L);
    assertThat(Smaps.parseOnce(new ByteArrayInputStream(text.getBytes(StandardCharsets.US_ASCII))))
        .extracting(Mapping::residentBytes)
        .containsExactly(4_096L, 4_096L, 8_192L);
  }

  /**
   * Linux before 3.8 wrote no flags, and versions before 4 wrote fewer lines. Addresses may have
   * fewer digits.
   */
  @Test
  void readsOldKernels() {
    assertThat(
            Captured.mappings(
                "00400000-0048c000 r-xp 00000000 fd:00 1234 /bin/old\nSize: 560 kB\nRss: 8 kB\n"))
        .containsExactly(Mappings.of(0x400000, 0x48c000, "r-xp", "/bin/old", 8192, false));
  }

  /** Numbers of more than eight digits make a line longer than the others. */
  @Test
  void readsTerabytes() {
    assertThat(
            Captured.mappings(
                """
                7e0000000000-7f0000000000 rw-p 00000000 00:00 0\s
                Size:           1073741824 kB
                Rss:            1073741823 kB
                Referenced:     1073741824 kB
                Anonymous:      1073741823 kB
                VmFlags: rd wr mr mw me ac nr\s
                7f0000000000-7f0000001000 ---p 00000000 00:00 0\s
                Rss:                   0 kB
                """))
        .containsExactly(
            Mappings.of(0x7e0000000000L, 0x7f0000000000L, "rw-p", "", (1L << 40) - 1024, true),
            Mappings.of(0x7f0000000000L, 0x7f0000001000L, "---p", "", 0, false));
  }

  @Test
  void namesChangeFromMappingToMapping() {
    List<String> names =
        List.of("/a/lib.so", "", "/a/lib.so", "/a/lib", "/a/lib.so.1", "/b/lib.so");
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < names.size(); i++) {
      text.append(
          "7f00000%d0000-7f00000%d1000 r--p 00000000 08:01 7 %s%n".formatted(i, i, names.get(i)));
    }

    assertThat(Captured.mappings(text.toString()))
        .extracting(Mapping::name)
        .containsExactlyElementsOf(names);
  }

  @Test
  void aNameIsCutOffWhereNoPathIsAsLong() {
    String header = "7f0000000000-7f0000001000 r--p 00000000 08:01 7 ";
    List<Mapping> mappings =
        Captured.mappings(
            header + "/" + "x".repeat(40_000) + "\nRss: 4 kB\n" + header + "/y\nRss: 8 kB\n");

    assertThat(mappings).extracting(Mapping::residentBytes).containsExactly(4096L, 8192L);
    assertThat(mappings)
        .extracting(mapping -> mapping.name().length())
        .containsExactly(4096 - header.length(), 2);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 4096, 8191})
  void theTextMayComeInPiecesOfAnySize(int most) throws IOException {
    String smaps = Captured.text("smaps-linux-6.18-jdk17-g1.txt");
    InputStream inPieces =
        new FilterInputStream(new ByteArrayInputStream(smaps.getBytes(StandardCharsets.UTF_8))) {
          @Override
          public int read(byte[] bytes, int offset, int length) throws IOException {
            return super.read(bytes, offset, Math.min(most, length));
          }
        };

    assertThat(Smaps.parse(inPieces)).isEqualTo(Captured.mappings(smaps));
  }

  @Test
  void skipsTheKernelsOwnHalf() {
    assertThat(
            Captured.mappings(
                "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\nRss: 0 kB\n"))
        .isEmpty();
  }

  @Test
  void sixtyFiveThousandMappingsAreReadInTime() throws Exception {
    StringBuilder text = new StringBuilder();
    String block = Captured.text("smaps-linux-6.18-jdk17-g1.txt").split("\n", 2)[1];
    String fields = block.substring(0, block.indexOf("ffe00000-"));
    for (long i = 0; i < 65_000; i++) {
      long start = 0x7f0000000000L + i * 8192;
      text.append(Long.toHexString(start))
          .append('-')
          .append(Long.toHexString(start + 4096))
          .append(" rw-p 00000000 00:00 0 \n")
          .append(fields);
    }
    String smaps = text.toString();

    assertThat(CpuTime.of(() -> assertThat(Captured.mappings(smaps)).hasSize(65_000)))
        .isLessThan(Duration.ofSeconds(10));
  }

  @Test
  void hugePagesAreThoseThatTheKernelCounts() throws IOException {
    String text =
        """
        7f0000000000-7f0000400000 rw-p 00000000 00:00 0
        Rss:                4096 kB
        Anonymous:          4096 kB
        AnonHugePages:      2048 kB
        VmFlags: rd wr mr mw me ac hg
        7f0000600000-7f0000700000 rw-p 00000000 00:00 0
        Rss:                  16 kB
        VmFlags: rd wr mr mw me ac
        """;

    assertThat(Smaps.parse(new ByteArrayInputStream(text.getBytes(StandardCharsets.US_ASCII))))
        .extracting(Mapping::hugeBytes)
        .containsExactly(2048L * 1024, -1L);
  }
}
