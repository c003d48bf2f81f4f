package io.mallometer.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ResidentPart;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Texts cut off anywhere, and texts in which anything was changed: nothing throws. */
class GarbledTextsTest {

  private static final int ROUNDS = 3_000;

  private final Random random = new Random(20_261_120);

  @Test
  void smaps() {
    // Enough of it to contain every kind of line.
    String smaps = Captured.text("smaps-linux-6.18-jdk17-g1.txt").substring(0, 20_000);
    mutate(
        smaps,
        text -> {
          var mappings = Captured.mappings(text);
          Map<ResidentPart, Long> parts =
              ResidentSplit.of(
                  mappings,
                  new JvmFacts(
                      JvmRanges.parse(text, text),
                      OptionalLong.of(1 << 30),
                      OptionalLong.of(1 << 28),
                      OptionalLong.of(1 << 20),
                      NativeMemoryTracking.parse(text)),
                  new MallocFacts(OptionalLong.of(1 << 22), 4096, true),
                  new MappedChunks(AddressSpace.unreadable(), 10));
          assertThat(parts.values().stream().mapToLong(Long::longValue).sum())
              .isEqualTo(mappings.stream().mapToLong(Mapping::residentBytes).sum());
          assertThat(parts.values()).allMatch(bytes -> bytes >= 0);
        });
  }

  @Test
  void nativeMemoryTracking() {
    mutate(
        Captured.text("nmt-jdk25-g1.txt"),
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
  void cgroupFiles() {
    Map<String, String> files = CgroupTest.files2();
    for (String name : files.keySet()) {
      mutate(
          files.get(name),
          text -> {
            Map<String, String> garbled = CgroupTest.files2();
            garbled.put(name, text);
            CgroupTest.version2(garbled)
                .ifPresent(
                    memory -> {
                      assertThat(memory.bytes().values()).allMatch(bytes -> bytes >= 0);
                      assertThat(memory.bytes().values().stream().mapToLong(Long::longValue).sum())
                          .isEqualTo(memory.chargedBytes());
                    });
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
