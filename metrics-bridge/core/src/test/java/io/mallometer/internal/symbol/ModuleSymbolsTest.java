package io.mallometer.internal.symbol;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.NativeLibrary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
@Tag("any-jdk")
class ModuleSymbolsTest {

  private final AtomicInteger opened = new AtomicInteger();
  private RecordedModule zlib;
  private long inflate;
  private byte[] file;

  private final ModuleImages images =
      new ModuleImages() {
        @Override
        public Optional<String> file(RecordedModule module) {
          return Optional.of(module.path());
        }

        @Override
        public Optional<String> mappedFile(RecordedModule module) {
          return Optional.empty();
        }

        @Override
        public Optional<Bytes> open(String path) {
          opened.incrementAndGet();
          return Optional.of(new ArrayBytes(file, 0));
        }

        @Override
        public Optional<Bytes> memory() {
          return Optional.empty();
        }
      };

  @BeforeEach
  void findZlib() throws IOException {
    NativeLibrary library = NativeLibrary.getInstance("libz.so.1");
    long address = OwnModules.address(library, "inflate");
    zlib = OwnModules.at(address).orElseThrow();
    inflate = address - zlib.bias();
    file = Files.readAllBytes(Path.of(zlib.path()));
  }

  @Test
  void aModuleIsReadOnceForAllAddressesThatAreLookedUpTogether() {
    ModuleSymbols symbols = new ModuleSymbols(images);
    long start = module(1).bias() + inflate;

    symbols.lookUp(module(1), new long[] {start - 1, start, start + 1});
    assertThat(opened).hasValue(1);
    assertThat(symbols.library(module(1))).isEqualTo("libz.so.1");
    assertThat(name(symbols, 1)).isEqualTo("inflate");
    assertThat(symbols.symbol(module(1), start + 1).map(SymbolTable.Symbol::name))
        .contains("inflate");
    assertThat(symbols.symbol(module(1), start - 1).map(SymbolTable.Symbol::name))
        .isNotEqualTo(Optional.of("inflate"));
    assertThat(opened).hasValue(1);

    assertThat(symbols.symbol(module(1), start + 2).map(SymbolTable.Symbol::name))
        .contains("inflate");
    assertThat(opened).hasValue(2);
  }

  @Test
  void onlyFunctionsThatAreAskedForAreKept() {
    ModuleSymbols symbols = new ModuleSymbols(images);
    assertThat(name(symbols, 1)).isEqualTo("inflate");
    assertThat(symbols.bytes()).isLessThan(500);
  }

  @Test
  void aFrameIsNamedOnce() {
    AtomicInteger named = new AtomicInteger();
    Symbolizer symbolizer =
        new Symbolizer(
            address -> Optional.of(module(1)),
            number -> {
              named.incrementAndGet();
              return Optional.of(new RecordedMethod("Foo", "bar", "", new int[0]));
            },
            images);
    long[] stack = {module(1).bias() + inflate + 1, RecordedFrame.ofJava(1, 0)};

    assertThat(symbolizer.frames(stack)).isEqualTo(symbolizer.frames(stack));
    assertThat(symbolizer.frames(stack).get(0)).isSameAs(symbolizer.frames(stack).get(0));
    assertThat(named).hasValue(1);
  }

  @Test
  void tablesTakeNoMoreThanTheyMayAndAreReadAgain() {
    ModuleSymbols one = new ModuleSymbols(images);
    name(one, 1);
    long most = one.bytes() * 1_024;
    ModuleSymbols symbols = new ModuleSymbols(images, most);

    for (int number = 0; number < 2_000; number++) {
      assertThat(name(symbols, number)).isEqualTo("inflate");
      assertThat(symbols.bytes()).isLessThanOrEqualTo(most);
    }
    opened.set(0);
    assertThat(name(symbols, 1_999)).isEqualTo("inflate");
    assertThat(opened).hasValue(0);
    assertThat(name(symbols, 500)).isEqualTo("inflate");
    assertThat(opened).hasValue(1);
  }

  private String name(ModuleSymbols symbols, int number) {
    RecordedModule module = module(number);
    return symbols
        .symbol(module, module.bias() + inflate)
        .map(SymbolTable.Symbol::name)
        .orElse("none");
  }

  private RecordedModule module(int number) {
    long begin = 0x10_0000_0000L + number * 0x100_0000L;
    return new RecordedModule(begin, begin + 0x10_0000, begin, zlib.path(), zlib.buildId());
  }
}
