package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ChildJvm;
import io.mallometer.Mallometer;
import io.mallometer.internal.library.load.BundledLibrary;
import io.mallometer.model.PageCache;
import io.mallometer.model.PageCache.CachedFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FileCacheTest {

  private static final int MEBIBYTE = 1 << 20;

  private final AtomicLong nanos = new AtomicLong();
  private final Planted kernel = new Planted();
  private final FileCache cache = new FileCache(kernel, nanos::get);
  @TempDir private Path directory;

  @ParameterizedTest
  @CsvSource({
    "/usr/lib/libc.so.6, library",
    "/app/app.JAR, archive",
    "/opt/jdk/lib/modules, archive",
    "/data/000123.sst, sst",
    "/kafka/topic-0/00000000000000000000.log, log",
    "/kafka/topic-0/00000000000000000000.timeindex, index",
    "/es/index/_0.cfs, index",
    "/var/log/app.log.1, log",
    "/data/table, other"
  })
  void aFileIsGroupedByItsName(String path, String kind) {
    assertThat(FileCache.kind(path)).isEqualTo(kind);
  }

  @Test
  void aMappedFileWithoutAnswerHasTheResidentPagesOfItsMappings() {
    kernel.mapped = -12;
    kernel.open.put(7, "/a.sst (deleted)");
    Mapping mapping =
        new Mapping(0x1000, 0x9000, Access.OTHER, false, "/b.log", 8192, false, 4096, 0);

    PageCache read = cache.read(List.of(mapping, mapping), 0);

    assertThat(read.cachedFiles())
        .containsExactly(
            new CachedFile("/b.log", "log", 8192, false),
            new CachedFile("/a.sst", "sst", 4096, true));
    assertThat(read.allCachedBytes()).isEqualTo(12_288);
    assertThat(read.cachedByKind()).containsEntry("log", 8192L).containsEntry("sst", 4096L);
    assertThat(read.gaps()).isEmpty();
    assertThat(read.cachedSentence())
        .isEqualTo(
            "Page cache of the files in use, charged to any cgroup: log 8.0 KiB, sst 4.0 KiB; largest: b.log"
                + " (8.0 KiB), a.sst (4.0 KiB, deleted).");
  }

  @Test
  void aReadingEndsAtItsBudgetAndTheNextOneContinues() {
    kernel.nanosPerFile = 4_000_000;
    for (int i = 0; i < 8; i++) {
      kernel.open.put(i, "/file" + i);
    }
    List<Mapping> mappings = List.of(mapping("/one"), mapping("/two"), mapping("/three"));

    PageCache first = cache.read(mappings, 0);

    assertThat(first.cachedFiles())
        .extracting(CachedFile::path)
        .containsExactlyInAnyOrder("/file0", "/file1", "/file2", "/one", "/two");
    assertThat(first.gaps()).contains("20 ms");
    assertThat(first.readingSeconds()).isLessThan(0.025);

    PageCache second = cache.read(mappings, FileCache.PACE_NANOS);
    assertThat(second.cachedFiles()).hasSize(6 + 3);
    kernel.open.remove(0);
    cache.read(mappings, 2 * FileCache.PACE_NANOS);
    PageCache third = cache.read(mappings, 3 * FileCache.PACE_NANOS);
    assertThat(third.cachedFiles()).hasSize(8 + 3);
    cache.read(mappings, 4 * FileCache.PACE_NANOS);
    PageCache last = cache.read(mappings, 5 * FileCache.PACE_NANOS);
    assertThat(last.cachedFiles()).extracting(CachedFile::path).doesNotContain("/file0");
  }

  /**
   * The first reading stops for lack of CPU time. A file is then opened under descriptor 0, which
   * the first reading has already passed.
   */
  @Test
  void aReadingThatContinuesGoesOnWithTheFirstFileAgain() {
    kernel.nanosPerFile = 4_000_000;
    for (int i = 0; i < 8; i++) {
      kernel.open.put(i, "/file" + i);
    }
    cache.read(List.of(), 0);
    kernel.nanosPerFile = 1;
    kernel.open.put(0, "/new");

    PageCache read = cache.read(List.of(), FileCache.PACE_NANOS);

    assertThat(read.cachedFiles()).extracting(CachedFile::path).contains("/new", "/file7");
    assertThat(read.gaps()).isEmpty();
  }

  /**
   * The limit on the CPU time for descriptors leaves time for mapped files. Later readings continue
   * with the remaining descriptors.
   */
  @Test
  void manySocketsLeaveTimeForFiles() {
    kernel.nanosPerFile = 1_000;
    kernel.slots = 100_000;
    kernel.open.put(90_000, "/last");

    PageCache first = cache.read(List.of(mapping("/mapped")), 0);
    assertThat(first.cachedFiles()).extracting(CachedFile::path).containsExactly("/mapped");
    assertThat(first.readingSeconds()).isLessThan(0.011);
    for (int minute = 1; minute < 10; minute++) {
      first = cache.read(List.of(mapping("/mapped")), minute * FileCache.PACE_NANOS);
    }
    assertThat(first.cachedFiles()).extracting(CachedFile::path).contains("/last", "/mapped");
  }

  @Test
  void openFilesWithoutAnswerAreUnknownAndCounted() {
    kernel.answer = -38;
    kernel.open.put(3, "/a.sst");
    kernel.open.put(4, "/b.sst");
    kernel.open.put(5, "/mapped");

    PageCache read = cache.read(List.of(mapping("/mapped")), 0);

    assertThat(read.cachedFiles()).extracting(CachedFile::path).containsExactly("/mapped");
    assertThat(read.gaps())
        .isEqualTo(
            "2 open files are unknown: the kernel has no cachestat, which Linux has from 6.5 on");
    kernel.answer = -95;
    assertThat(cache.read(List.of(), FileCache.PACE_NANOS).gaps())
        .contains("cachestat sees no pages of an overlay")
        .doesNotContain("refuses");
  }

  @Test
  void aSecurityManagerHidesOpenFilesOnly() {
    kernel.open.put(3, "/a.sst");
    kernel.secured = true;

    PageCache read = cache.read(List.of(mapping("/mapped")), 0);

    assertThat(read.cachedFiles()).extracting(CachedFile::path).containsExactly("/mapped");
    assertThat(read.gaps()).isEqualTo("a security manager hides open files");
  }

  /**
   * The library returns -EPERM (-1) if the process may not write the file. The kernel would then
   * report all pages of the file as cached.
   */
  @Test
  void whereTheKernelHidesAMappedFileItsResidentPagesAreReadAndThatIsTold() {
    kernel.mapped = -1;

    PageCache read = cache.read(List.of(mapping("/a.so"), mapping("/b.so")), 0);

    assertThat(read.allCachedBytes()).isEqualTo(2 * 8192);
    assertThat(read.gaps())
        .isEqualTo(
            "2 mapped files count as far as they are in the resident set: the kernel tells the cached"
                + " pages of files only to those who may write them");
  }

  /** mincore counts a copied page as cached, although it is not a page of the file. */
  @Test
  void copiedPagesAreNoCachedPages() {
    kernel.mapped = 16_384;
    Mapping copied =
        new Mapping(0x1000, 0x9000, Access.WRITABLE, false, "/a.so", 12_288, false, 4096, 0);

    assertThat(cache.read(List.of(copied), 0).allCachedBytes()).isEqualTo(16_384 - 4096);
  }

  private static Mapping mapping(String path) {
    return new Mapping(0x1000, 0x9000, Access.OTHER, false, path, 8192, false, 0, 0);
  }

  /** Simulates a kernel. Each open file has 4 KiB in the page cache. */
  private final class Planted implements FileCache.Kernel {

    private final Map<Integer, String> open = new HashMap<>();
    private int slots = 16;
    private long nanosPerFile;
    private long answer = 4096;
    private long mapped;
    private boolean secured;

    @Override
    public long cached(int descriptor, long begin, long bytes) {
      nanos.addAndGet(
          nanosPerFile * (slots > 16 || descriptor < 0 || open.containsKey(descriptor) ? 1 : 0));
      return descriptor < 0 ? mapped : open.containsKey(descriptor) ? answer : -9;
    }

    @Override
    public int descriptors() {
      return slots;
    }

    @Override
    public String path(int descriptor) {
      if (secured) {
        throw new SecurityException();
      }
      return open.get(descriptor);
    }
  }

  @ParameterizedTest(name = "attached={0}")
  @ValueSource(booleans = {false, true})
  @Tag("process")
  @Tag("any-jdk")
  void openMappedAndDeletedFilesHaveTheirCachedPages(boolean attached) throws IOException {
    for (Path home : ChildJvm.jdksWith(attached)) {
      Path data = Files.createTempDirectory(Path.of("target"), "cached");
      String output =
          new ChildJvm()
              .java(home)
              .preloadUnless(attached, BundledLibrary.extract(directory))
              .run(Caches.class, data.toString())
              .output();
      assertThat(output)
          .contains("open.sst sst %d false".formatted(32 * MEBIBYTE))
          .contains("deleted.log log %d true".formatted(8 * MEBIBYTE))
          // The test may run in a chroot, with its standard output in a file outside of it. The
          // file system of this file is then unknown.
          .containsPattern("gaps=(1 open files are unknown: their file system is unknown)?\n");
      long mapped = Long.parseLong(output.replaceAll("(?s).*mapped.cfs index (\\d+).*", "$1"));
      assertThat(mapped).isBetween(16L * MEBIBYTE, 17L * MEBIBYTE);
      double seconds = Double.parseDouble(output.replaceAll("(?s).*seconds=(\\S+).*", "$1"));
      assertThat(seconds).isBetween(0.0, 0.1);
      ChildJvm.printRow(
          home,
          attached,
          "files",
          output.replaceAll("(?s).*(Cached pages of[^\n]*).*", "$1"),
          "%.1f ms".formatted(seconds * 1e3));
    }
  }

  static final class Caches {

    private Caches() {}

    public static void main(String[] arguments) throws Exception {
      Mallometer.open().counting().attach();
      Path data = Path.of(arguments[0]).toAbsolutePath();
      FileChannel open = write(data.resolve("open.sst"), 32);
      FileChannel deleted = write(data.resolve("deleted.log"), 8);
      MappedByteBuffer mapped;
      try (FileChannel channel = write(data.resolve("mapped.cfs"), 16)) {
        channel.write(ByteBuffer.allocate(1), 20L * MEBIBYTE - 1);
        mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
      }
      mapped.get(0); // Touching the mapping makes a page resident.
      Files.delete(data.resolve("deleted.log"));
      FileCache cache = FileCache.ofThisProcess(new ProcessFiles(), Pause::processorNanos);
      PageCache read = PageCache.NONE;
      // The first readings may be too slow to reach all files, because the JVM interprets their
      // code.
      for (int minute = 0; minute == 0 || minute < 20 && !read.gaps().isEmpty(); minute++) {
        read =
            cache.read(new ProcessFiles().mappings().orElseThrow(), minute * FileCache.PACE_NANOS);
      }
      for (CachedFile file : read.cachedFiles()) {
        String name = file.path().substring(file.path().lastIndexOf('/') + 1);
        System.out.println(
            name + " " + file.sort() + " " + file.cachedBytes() + " " + file.deleted());
      }
      System.out.println(read.cachedSentence());
      System.out.println("gaps=" + read.gaps());
      System.out.println("seconds=" + read.readingSeconds());
      System.out.println("kept " + mapped.get(0) + open.size() + deleted.size());
      Files.delete(data.resolve("open.sst"));
      Files.delete(data.resolve("mapped.cfs"));
      Files.delete(data);
    }

    private static FileChannel write(Path path, int mebibytes) throws IOException {
      FileChannel channel =
          FileChannel.open(
              path,
              StandardOpenOption.CREATE_NEW,
              StandardOpenOption.WRITE,
              StandardOpenOption.READ);
      for (int i = 0; i < mebibytes; i++) {
        channel.write(ByteBuffer.allocate(MEBIBYTE));
      }
      return channel;
    }
  }
}
