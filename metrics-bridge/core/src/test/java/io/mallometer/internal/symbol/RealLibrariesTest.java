package io.mallometer.internal.symbol;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.NativeLibrary;
import io.mallometer.model.StackFrame;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that functions of libraries in this process get the right names. The dynamic linker gives
 * the addresses of the functions.
 */
@EnabledOnOs(OS.LINUX)
@Tag("any-jdk")
class RealLibrariesTest {

  private static final List<String> OF_ZLIB =
      List.of("deflateInit2_", "inflate", "crc32", "gzopen");

  /** The reference keeps JNA from unloading the library. */
  private static final NativeLibrary ZLIB = NativeLibrary.getInstance("libz.so.1");

  @TempDir Path directory;

  @Test
  void everyExportedFunctionHasItsName() {
    for (String function : OF_ZLIB) {
      assertThat(frameIn(ZLIB, function).toString()).isEqualTo("libz.so.1!" + function + "+0x1");
    }
  }

  @Test
  void functionsOfTheJvmHaveTheirNames() {
    NativeLibrary jvm =
        NativeLibrary.getInstance(System.getProperty("java.home") + "/lib/server/libjvm.so");

    assertThat(frameIn(jvm, "JNI_GetCreatedJavaVMs").toString())
        .isEqualTo("libjvm.so!JNI_GetCreatedJavaVMs+0x1");
    assertThat(frameIn(jvm, "JVM_CurrentTimeMillis").function())
        .isEqualTo("libjvm.so!JVM_CurrentTimeMillis");
  }

  @Test
  void functionsOfTheCLibraryHaveTheNamesThatPeopleKnow() {
    NativeLibrary c = NativeLibrary.getInstance("c");

    assertThat(frameIn(c, "malloc").owner()).startsWith("libc.so");
    assertThat(module(c, "malloc").buildId()).matches("[0-9a-f]{16,}");
    assertThat(frameIn(c, "malloc").name()).isEqualTo("malloc");
    assertThat(frameIn(c, "strdup").name()).isEqualTo("strdup");
  }

  @Test
  void theExecutableIsNamedAlsoIfItsPathIsUnknown() throws IOException {
    Path java = Path.of("/proc/self/exe").toRealPath();
    long begin =
        Files.readAllLines(Path.of("/proc/self/maps")).stream()
            .filter(line -> line.endsWith(java.toString()))
            .mapToLong(line -> Long.parseLong(line.substring(0, line.indexOf('-')), 16))
            .min()
            .orElseThrow();
    RecordedModule known = OwnModules.at(begin).orElseThrow();
    RecordedModule unknown =
        new RecordedModule(known.begin(), known.end(), known.bias(), "", known.buildId());
    long[] stack = {begin + 64};

    assertThat(symbolizer().frames(stack).get(0).owner()).isEqualTo("java");
    assertThat(symbolizer(unknown, ModuleImages.ofThisProcess()).frames(stack).get(0).owner())
        .isEqualTo("java");
  }

  @Test
  void aLibraryThatWasDeletedWhileItIsMappedHasItsNames() throws IOException {
    Path file = directory.resolve("libunpacked1234567890123.so");
    Files.copy(fileOfZlib(), file);
    NativeLibrary library = NativeLibrary.getInstance(file.toString());
    Files.delete(file);

    StackFrame frame = frameIn(library, "deflateInit2_");

    assertThat(module(library, "inflate").path()).isEqualTo(file + " (deleted)");
    assertThat(frame.toString()).isEqualTo("libz.so.1!deflateInit2_+0x1");
  }

  @Test
  void aLibraryOfWhichOnlyTheMemoryIsLeftHasItsNames() throws IOException {
    Path file = directory.resolve("libmemory1234567890123.so");
    try (InputStream in = getClass().getResourceAsStream("/librocksdbjni-linux64.so")) {
      Files.copy(in, file);
    }
    NativeLibrary library = NativeLibrary.getInstance(file.toString());
    Files.delete(file);
    String function = "Java_org_rocksdb_RocksDB_open__JLjava_lang_String_2";
    RecordedModule module = module(library, function);
    Symbolizer symbolizer = symbolizer(module, new MemoryOnly());

    StackFrame frame = frame(symbolizer, library, function);

    assertThat(frame.name()).isEqualTo(function);
    assertThat(frame.offset()).isEqualTo(1);
    assertThat(frame.owner()).isEqualTo("libmemory.so");
  }

  @Test
  void aFileThatReplacedTheMappedOneIsNotBelieved() throws IOException {
    Path file = directory.resolve("libreplaced.so");
    Files.copy(fileOfZlib(), file);
    NativeLibrary library = NativeLibrary.getInstance(file.toString());
    RecordedModule module = module(library, "inflate");
    Files.delete(file);
    Files.copy(Path.of(System.getProperty("java.home"), "lib/libjava.so"), file);

    StackFrame frame = frame(symbolizer(module, new OnlyFile(file)), library, "inflate");

    assertThat(frame.function()).isEqualTo("libz.so.1!inflate");
  }

  @Test
  void withoutABuildIdTheProgramHeadersTellWhetherAFileIsTheMappedOne() throws IOException {
    Path file = directory.resolve("libwithout.so");
    Files.write(file, withoutBuildId(Files.readAllBytes(fileOfZlib())));
    NativeLibrary library = NativeLibrary.getInstance(file.toString());
    RecordedModule module = module(library, "inflate");
    assertThat(module.buildId()).isEmpty();
    Path other = directory.resolve("libother.so");
    Path java = Path.of(System.getProperty("java.home"), "lib/libjava.so");
    Files.write(other, withoutBuildId(Files.readAllBytes(java)));

    assertThat(frame(symbolizer(module, new OnlyFile(file)), library, "inflate").function())
        .isEqualTo("libz.so.1!inflate");
    assertThat(frame(symbolizer(module, new OnlyFile(other)), library, "inflate").function())
        .isEqualTo("libz.so.1!inflate");
  }

  @Test
  void aModuleThatIsNoLongerMappedHasNoSymbolsButAName() {
    RecordedModule gone =
        new RecordedModule(0x10000, 0x20000, 0x10000, "/tmp/libgone1234567890.so (deleted)", "");

    StackFrame frame =
        symbolizer(gone, ModuleImages.ofThisProcess()).frames(new long[] {0x10123}).get(0);

    assertThat(frame).isEqualTo(StackFrame.ofLibrary("libgone.so", "", 0x123));
  }

  @Test
  void anotherLibraryAtTheSameAddressIsNotRead() {
    RecordedModule there = module(ZLIB, "inflate");
    RecordedModule before =
        new RecordedModule(there.begin(), there.end(), there.bias(), "/tmp/libgone.so", "0123abcd");

    StackFrame frame = frame(symbolizer(before, new MemoryOnly()), ZLIB, "inflate");

    assertThat(frame.owner()).isEqualTo("libgone.so");
    assertThat(frame.name()).isEmpty();
  }

  private static StackFrame frameIn(NativeLibrary library, String function) {
    return frame(symbolizer(), library, function);
  }

  private static StackFrame frame(Symbolizer symbolizer, NativeLibrary library, String function) {
    return symbolizer.frames(new long[] {OwnModules.address(library, function) + 1}).get(0);
  }

  private static RecordedModule module(NativeLibrary library, String function) {
    return OwnModules.at(OwnModules.address(library, function)).orElseThrow();
  }

  private static Symbolizer symbolizer() {
    return new Symbolizer(OwnModules::at, number -> Optional.empty(), ModuleImages.ofThisProcess());
  }

  private static Symbolizer symbolizer(RecordedModule module, ModuleImages images) {
    return new Symbolizer(address -> Optional.of(module), number -> Optional.empty(), images);
  }

  private static Path fileOfZlib() {
    return Path.of(module(ZLIB, "inflate").path());
  }

  /** Hides the build id: changes the type of the ELF note that contains it. */
  private static byte[] withoutBuildId(byte[] library) {
    for (int at = 12; at < 4_096; at += 4) {
      boolean gnu = library[at] == 'G' && library[at + 1] == 'N' && library[at + 2] == 'U';
      if (gnu && library[at - 4] == 3) {
        library[at - 4] = 99;
      }
    }
    return library;
  }

  private static class MemoryOnly implements ModuleImages {

    private final ModuleImages own = ModuleImages.ofThisProcess();

    @Override
    public Optional<String> file(RecordedModule module) {
      return Optional.empty();
    }

    @Override
    public Optional<String> mappedFile(RecordedModule module) {
      return Optional.empty();
    }

    @Override
    public Optional<Bytes> open(String file) {
      return own.open(file);
    }

    @Override
    public Optional<Bytes> memory() {
      return own.memory();
    }
  }

  private static final class OnlyFile extends MemoryOnly {

    private final Path file;

    OnlyFile(Path file) {
      this.file = file;
    }

    @Override
    public Optional<String> file(RecordedModule module) {
      return Optional.of(file.toString());
    }
  }
}
