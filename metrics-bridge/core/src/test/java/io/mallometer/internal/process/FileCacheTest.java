package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ChildJvm;
import io.mallometer.internal.library.load.BundledLibrary;
import io.mallometer.internal.library.load.ProcessLibrary;
import io.mallometer.internal.process.FileCache.UsedFile;
import io.mallometer.model.PageCache;
import io.mallometer.model.PageCache.CachedFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FileCacheTest {

  private static final int MEBIBYTE = 1 << 20;

  private final AtomicLong nanos = new AtomicLong();
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
  void aFileWithoutAnswerHasTheResidentPagesOfItsMappings() {
    FileCache cache = new FileCache((file, begin, bytes) -> file == 7 ? 4096 : -1, nanos::get);
    Mapping mapping =
        new Mapping(0x1000, 0x9000, Access.OTHER, false, "/b.log", 8192, false, 4096, 0);

    PageCache read =
        cache.measure(
            Map.of(
                "/a.sst (deleted)", new UsedFile(7, List.of()),
                "/b.log", new UsedFile(-1, List.of(mapping, mapping))),
            0);

    assertThat(read.cachedFiles())
        .containsExactly(
            new CachedFile("/b.log", "log", 8192, false),
            new CachedFile("/a.sst", "sst", 4096, true));
    assertThat(read.allCachedBytes()).isEqualTo(12_288);
    assertThat(read.cachedByKind()).containsEntry("log", 8192L).containsEntry("sst", 4096L);
    assertThat(read.gaps()).isEmpty();
    assertThat(read.cachedSentence())
        .isEqualTo(
            "Cached pages of files, whoever is charged: log 8.0 KiB, sst 4.0 KiB; most by b.log"
                + " (8.0 KiB), a.sst (4.0 KiB, deleted).");
  }

  @Test
  void aReadingEndsAtItsBudgetAndTheNextOneContinues() {
    FileCache cache =
        new FileCache(
            (file, begin, bytes) -> {
              nanos.addAndGet(8_000_000);
              return 1;
            },
            nanos::get);
    Map<String, UsedFile> files = new LinkedHashMap<>();
    for (int i = 0; i < 6; i++) {
      files.put("/file" + i, new UsedFile(i, List.of()));
    }

    PageCache first = cache.measure(files, nanos.get());
    PageCache second = cache.measure(files, nanos.get());
    files.remove("/file0");
    PageCache third = cache.measure(files, nanos.get());

    assertThat(first.cachedFiles()).hasSize(3);
    assertThat(first.gaps()).contains("20 ms");
    assertThat(first.readingSeconds()).isLessThan(0.03);
    assertThat(second.cachedFiles()).hasSize(6);
    assertThat(third.cachedFiles()).hasSize(5);
  }

  @Test
  @Tag("process")
  void openMappedAndDeletedFilesHaveTheirCachedPages() throws IOException {
    for (Path home : ChildJvm.jdksSince(17)) {
      Path data = Files.createTempDirectory(Path.of("target"), "cached");
      String output =
          new ChildJvm()
              .java(home)
              .preload(BundledLibrary.extract(directory))
              .run(Caches.class, data.toString())
              .output();
      System.out.println(output);

      assertThat(output)
          .contains("open.sst sst %d false".formatted(32 * MEBIBYTE))
          .contains("deleted.log log %d true".formatted(8 * MEBIBYTE))
          .contains("gaps=\n");
      long mapped = Long.parseLong(output.replaceAll("(?s).*mapped.cfs index (\\d+).*", "$1"));
      assertThat(mapped).isBetween(16L * MEBIBYTE, 17L * MEBIBYTE);
      assertThat(Double.parseDouble(output.replaceAll("(?s).*seconds=(\\S+).*", "$1")))
          .isBetween(0.0, 0.1);
    }
  }

  /** Writes three files, of which one stays open, one mapped and one deleted, and prints them. */
  static final class Caches {

    private Caches() {}

    public static void main(String[] arguments) throws Exception {
      new ProcessLibrary().present();
      Path data = Path.of(arguments[0]).toAbsolutePath();
      FileChannel open = write(data.resolve("open.sst"), 32);
      FileChannel deleted = write(data.resolve("deleted.log"), 8);
      MappedByteBuffer mapped;
      try (FileChannel channel = write(data.resolve("mapped.cfs"), 16)) {
        mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
      }
      mapped.load();
      Files.delete(data.resolve("deleted.log"));
      FileCache cache = FileCache.ofThisProcess(ProcessMemorySource::processorNanos);
      PageCache read = cache.read(new ProcessFiles().mappings().orElseThrow(), 0);
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
