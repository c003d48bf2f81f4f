package io.mallometer.internal.symbol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.sun.jna.NativeLibrary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/**
 * Tests that a real library that is truncated or changed at random is read without harm, from a
 * file and in memory.
 */
@EnabledOnOs(OS.LINUX)
@Tag("any-jdk")
class GarbledLibrariesTest {

  private static final int ROUNDS = 4_000;
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private static RecordedModule module;
  private static byte[] file;
  private static byte[] memory;

  private final Random random = new Random(20_261_121);

  @BeforeAll
  static void readZlib() throws IOException {
    NativeLibrary zlib = NativeLibrary.getInstance("libz.so.1");
    module = OwnModules.at(OwnModules.address(zlib, "inflate")).orElseThrow();
    file = Files.readAllBytes(Path.of(module.path()));
    memory = new byte[(int) (module.end() - module.begin())];
    try (Bytes own = ModuleImages.ofThisProcess().memory().orElseThrow()) {
      byte[] page = new byte[4_096];
      for (int at = 0; at < memory.length; at += page.length) {
        if (own.read(module.begin() + at, page, page.length)) {
          System.arraycopy(page, 0, memory, at, page.length);
        }
      }
    }
  }

  @Test
  void asTheyAreBothHaveTheFunctions() {
    assertThat(functions(new ArrayBytes(file, 0), false)).isGreaterThan(80);
    assertThat(functions(new ArrayBytes(memory, module.begin()), true)).isGreaterThan(80);
  }

  @Test
  void filesAreReadOrNotInBoundedTimeAndMemory() {
    assertTimeoutPreemptively(
        LIMIT,
        () -> {
          for (int i = 0; i < ROUNDS; i++) {
            functions(new ArrayBytes(garbled(file, sectionHeaders()), 0), false);
          }
        });
  }

  @Test
  void memoryIsReadOrNotInBoundedTimeAndMemory() {
    int dynamic = dynamicSection();
    assertTimeoutPreemptively(
        LIMIT,
        () -> {
          for (int i = 0; i < ROUNDS; i++) {
            functions(new ArrayBytes(garbled(memory, dynamic), module.begin()), true);
          }
        });
  }

  private static int functions(Bytes bytes, boolean mapped) {
    RecordedModule unidentified =
        new RecordedModule(module.begin(), module.end(), module.bias(), module.path(), "");
    SymbolTable.Builder builder = new SymbolTable.Builder(1 << 20);
    (mapped ? ElfImage.ofMemory(bytes, unidentified) : ElfImage.ofFile(bytes))
        .ifPresent(
            image -> {
              assertThat(image.buildId()).isNotNull();
              assertThat(image.soname()).isNotNull();
              image.addFunctionsTo(builder);
            });
    SymbolTable table = builder.build();
    assertThat(table.bytes()).isLessThan(16 << 20);
    for (long address = 0; address < 1 << 17; address += 4_096) {
      table.at(address).map(SymbolTable.Symbol::name).map(SymbolName::of);
    }
    return table.size();
  }

  private byte[] garbled(byte[] sound, int headers) {
    int length = random.nextInt(4) == 0 ? random.nextInt(sound.length) : sound.length;
    byte[] bytes = Arrays.copyOf(sound, Math.max(64, length));
    for (int change = random.nextInt(24); change >= 0; change--) {
      int at =
          switch (random.nextInt(4)) {
            case 0 -> random.nextInt(1_024);
            case 1 -> headers + random.nextInt(1_024);
            default -> random.nextInt(bytes.length);
          };
      if (at < bytes.length) {
        bytes[at] =
            switch (random.nextInt(4)) {
              case 0 -> (byte) random.nextInt();
              case 1 -> -1;
              case 2 -> 0;
              default -> (byte) (bytes[at] ^ 1 << random.nextInt(8));
            };
      }
    }
    return bytes;
  }

  private static int sectionHeaders() {
    return (int) number(file, 40);
  }

  private static int dynamicSection() {
    int programHeaders = (int) number(memory, 32);
    for (int at = programHeaders; ; at += 56) {
      if (memory[at] == 2) {
        return (int) number(memory, at + 16);
      }
    }
  }

  private static long number(byte[] bytes, int at) {
    long number = 0;
    for (int i = 7; i >= 0; i--) {
      number = number << 8 | bytes[at + i] & 0xff;
    }
    return number;
  }
}
