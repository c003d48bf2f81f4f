package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class JvmRangesTest {

  @Test
  void g1NamesItsRange() {
    assertHeap(
        " garbage-first heap   total 262144K, used 5013K [0x00000000f0000000, 0x0000000100000000)\n"
            + "  region size 1024K, 4 young (4096K), 0 survivors (0K)\n"
            + " Metaspace       used 2972K, committed 3072K, reserved 1114112K\n");
  }

  @Test
  void serialNamesItsSpaces() {
    assertHeap(
        " def new generation   total 78656K, used 5596K"
            + " [0x00000000f0000000, 0x00000000f5550000, 0x00000000f5550000)\n"
            + "  eden space 69952K,   8% used"
            + " [0x00000000f0000000, 0x00000000f0577308, 0x00000000f4450000)\n"
            + " tenured generation   total 174784K, used 0K"
            + " [0x00000000f5550000, 0x0000000100000000, 0x0000000100000000)\n"
            + "   the space 174784K,   0% used"
            + " [0x00000000f5550000, 0x00000000f5550000, 0x00000000f5550200, 0x0000000100000000)\n");
  }

  @Test
  void parallelLeavesOutBlanks() {
    assertHeap(
        " PSYoungGen      total 76288K, used 7866K"
            + " [0x00000000fab00000, 0x0000000100000000, 0x0000000100000000)\n"
            + "  eden space 65536K, 12% used"
            + " [0x00000000fab00000,0x00000000fb2aea28,0x00000000feb00000)\n"
            + " ParOldGen       total 175104K, used 0K"
            + " [0x00000000f0000000, 0x00000000fab00000, 0x00000000fab00000)\n");
  }

  @Test
  void shenandoahNamesItsRange() {
    assertHeap(
        "Shenandoah Heap\n 256M max, 256M soft max, 256M committed, 4608K used\n"
            + "Reserved region:\n - [0x00000000f0000000, 0x0000000100000000) \n");
  }

  @Test
  void zgcNamesNone() {
    assertThat(JvmRanges.parse("ZHeap            used 20M, capacity 256M\n", "").heap()).isEmpty();
  }

  @Test
  void codeHeapsReachToTheirReservedEnd() {
    assertThat(JvmRanges.parse("", Captured.text("codecache-jdk25.txt")).code())
        .hasSize(3)
        .allSatisfy(range -> assertThat(range.start()).isGreaterThan(0x7f0000000000L))
        .allSatisfy(range -> assertThat(range.end() - range.start()).isGreaterThan(5 << 20));
  }

  @Test
  void nonsenseIsNoRange() {
    assertThat(JvmRanges.parse("[0xffffffffffffffff, 0x1) [0x5, 0x4) [0x, 0x) [", "not enabled"))
        .isEqualTo(new JvmRanges(List.of(), List.of()));
  }

  private static void assertHeap(String report) {
    JvmRanges ranges = JvmRanges.parse(report, "");
    for (long address = 0xf0000000L; address < 0x100000000L; address += 1 << 20) {
      assertThat(covered(ranges, address)).as(Long.toHexString(address)).isTrue();
    }
    assertThat(covered(ranges, 0xeffff000L)).isFalse();
    assertThat(covered(ranges, 0x100000000L)).isFalse();
  }

  private static boolean covered(JvmRanges ranges, long address) {
    Mapping page = Mappings.of(address, address + 4096, "rw-p", "", 0, false);
    return ranges.heap().stream().anyMatch(range -> range.contains(page));
  }
}
