package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.CgroupMemory;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.SelfReport.SlotPages;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that texts that are cut off or changed at any place cause no exception. */
@Tag("any-jdk")
class GarbledTextsTest {

  private static final int ROUNDS = 3_000;

  private final Random random = new Random(20_261_120);

  @Test
  void smaps() {
    // These 20,000 characters contain each kind of line.
    String smaps = Captured.text("smaps-linux-6.18-jdk17-g1.txt").substring(0, 20_000);
    mutate(
        smaps,
        text -> {
          List<Mapping> mappings = Captured.mappings(text);
          Map<ResidentPart, Long> parts =
              ResidentSplit.of(
                      mappings,
                      new JvmFacts(
                          JvmRanges.parse(text, text),
                          new Metadata(
                              OptionalLong.of(1 << 30),
                              OptionalLong.of(random.nextInt(1 << 24)),
                              OptionalLong.of(random.nextInt(1 << 24))),
                          OptionalLong.of(1 << 20),
                          1 << 24,
                          OptionalLong.of(1 << 20),
                          NativeMemoryTracking.parse(text)),
                      new MallocFacts(OptionalLong.of(1 << 22), 4096, 0, SlotPages.NONE, true),
                      AddressSpace.unreadable(),
                      new MappedChunks.Searched(),
                      List.of())
                  .parts();
          assertThat(parts.values().stream().mapToLong(Long::longValue).sum())
              .isEqualTo(mappings.stream().mapToLong(Mapping::residentBytes).sum());
          assertThat(parts.values()).allMatch(bytes -> bytes >= 0);
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"nmt-jdk17-g1.txt", "nmt-jdk25-g1.txt"})
  void nativeMemoryTracking(String report) {
    mutate(
        Captured.text(report),
        text ->
            NativeMemoryTracking.parse(text)
                .ifPresent(
                    tracking -> {
                      assertThat(tracking.mallocBytes()).isNotNegative();
                      assertThat(tracking.structureBytes()).isNotNegative();
                    }));
  }

  @Test
  void rangesOfTheJvm() {
    mutate(
        Captured.text("codecache-jdk25.txt"),
        text ->
            assertThat(JvmRanges.parse(text, text).code())
                .allMatch(range -> range.start() < range.end()));
  }

  @Test
  void reportsOfTheHeap() {
    mutate(
        " def new generation   total 78656K, used 5596K"
            + " [0x00000000f0000000, 0x00000000f5550000, 0x00000000f5550000)\n"
            + " PSYoungGen      total 76288K, used 7866K"
            + " [0x00000000fab00000,0x00000000fb2aea28,0x00000000feb00000)\n"
            + "Reserved region:\n - [0x00000000f0000000, 0x0000000100000000) \n",
        text ->
            assertThat(JvmRanges.parse(text, "").heap())
                .allMatch(range -> range.start() < range.end()));
  }

  @Test
  void cgroupFilesOfVersion1() {
    mutateEach(
        CgroupTest.files1(), garbled -> CgroupTest.version1(garbled, OptionalLong.of(1_000_000)));
  }

  @Test
  void cgroupFiles() {
    mutateEach(CgroupTest.files2(), CgroupTest::version2);
  }

  private void mutateEach(
      Map<String, String> sound, Function<Map<String, String>, Optional<CgroupMemory>> reader) {
    for (String name : sound.keySet()) {
      Map<String, String> garbled = new HashMap<>(sound);
      mutate(
          sound.get(name),
          text -> {
            garbled.put(name, text);
            reader.apply(garbled).ifPresent(GarbledTextsTest::assertAddsUp);
          });
    }
  }

  @Test
  void placesOfTheCgroup() {
    String mounts =
        "36 32 0:31 /docker/abc /sys/fs/cgroup/memory ro shared:15 - cgroup cgroup rw,memory\n"
            + "31 24 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
    String cgroups = "4:memory:/docker/abc/x\n0::/system.slice/app.service\n";
    mutate(mounts, text -> CgroupDirectory.find(cgroups, text));
    mutate(
        cgroups,
        text -> {
          Optional<CgroupDirectory> found = CgroupDirectory.find(text, mounts);
          found.ifPresent(
              directory -> assertThat(directory.path().startsWith(directory.mount())).isTrue());
        });
  }

  @Test
  void status() {
    mutate("VmRSS:\t   51628 kB\nRssAnon:\t   3028 kB\nThreads:\t19\n", StatusFile::parse);
  }

  private static void assertAddsUp(CgroupMemory memory) {
    assertThat(memory.parts().values()).allMatch(bytes -> bytes >= 0);
    assertThat(memory.parts().values().stream().mapToLong(Long::longValue).sum())
        .isEqualTo(memory.chargedBytes());
  }

  private void mutate(String text, Consumer<String> reader) {
    for (int i = 0; i < ROUNDS; i++) {
      StringBuilder garbled = new StringBuilder(text);
      garbled.setLength(random.nextInt(text.length() + 1));
      for (int change = random.nextInt(8); change > 0 && !garbled.isEmpty(); change--) {
        change(garbled);
      }
      try {
        reader.accept(garbled.toString());
      } catch (RuntimeException e) {
        throw new AssertionError("thrown for: " + garbled, e);
      }
    }
  }

  private void change(StringBuilder text) {
    int at = random.nextInt(text.length());
    switch (random.nextInt(5)) {
      case 0 -> text.setCharAt(at, (char) random.nextInt(256));
      case 1 -> text.insert(at, "99999999999999999999");
      case 2 -> text.deleteCharAt(at);
      case 3 -> text.insert(at, random.nextBoolean() ? "\n" : " ");
      default -> text.insert(at, "-9");
    }
  }
}
