package io.mallometer.samples.leaky;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.springframework.util.unit.DataSize;

/** Checks that the content of a report passes unchanged through the native libraries. */
class ReportServiceTest {
  private final ReportWriter writer = new ReportWriter();
  private final LeakSwitch off =
      new LeakSwitch(
          DataSize.ofMegabytes(1), DataSize.ofMegabytes(1), () -> false, System::nanoTime);

  @Test
  void theSameNumberGivesTheSameReport() {
    assertThat(writer.write(7)).isEqualTo(writer.write(7)).isNotEqualTo(writer.write(8));
  }

  @Test
  void anArchivedReportCanBeUnpacked() {
    ReportArchive archive = new ReportArchive(off);
    Report report = writer.write(1);
    byte[] packed = archive.pack(report);
    assertThat(packed.length).isLessThan(report.text().length() / 2);
    assertThat(archive.unpack(packed)).isEqualTo(report.text());
  }

  @Test
  void aTruncatedArchiveIsRefused() {
    ReportArchive archive = new ReportArchive(off);
    byte[] packed = archive.pack(writer.write(1));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> archive.unpack(Arrays.copyOf(packed, packed.length / 2)));
  }

  @Test
  void coldStorageKeepsTheLatestReports() {
    ColdStorage storage = new ColdStorage(off);
    assertThat(storage.oldest()).isEmpty();
    for (int number = 1; number <= 70; number++) {
      storage.store(writer.write(number));
    }
    assertThat(storage.oldest()).isEqualTo(writer.write(70 - 64 + 1).text());
  }

  @Test
  void theIndexCountsTheLatestReportsOfACustomer() throws Exception {
    try (ReportIndex index = new ReportIndex(off)) {
      for (int number = 1; number <= 600; number++) {
        index.add(new Report(number, number % 3 == 0 ? "Ada" : "Ben", ""));
      }
      assertThat(index.countLatest("Ada", 600)).isEqualTo(167);
      assertThat(index.countLatest("Ben", 600)).isEqualTo(333);
      assertThat(index.countLatest("Eve", 600)).isZero();
    }
  }

  @Test
  void everyByteIsSent() throws Exception {
    byte[] content = writer.write(1).text().repeat(10).getBytes(StandardCharsets.UTF_8);
    CRC32C expected = new CRC32C();
    expected.update(content);
    assertThat(new TransferBuffers().send(content)).isEqualTo(expected.getValue());
  }

  @Test
  void everyCopyIsPrinted() {
    Report report = writer.write(1);
    CRC32 expected = new CRC32();
    expected.update(report.text().repeat(PrintSpool.COPIES).getBytes(StandardCharsets.UTF_8));
    assertThat(new PrintSpool(off).print(report)).isEqualTo(expected.getValue());
  }

  @Test
  void theServiceProducesReports() throws Exception {
    try (ReportIndex index = new ReportIndex(off)) {
      ReportService service =
          new ReportService(
              writer,
              index,
              new ReportArchive(off),
              new ColdStorage(off),
              new TransferBuffers(),
              new PrintSpool(off));
      assertThat(service.latest()).isEmpty();
      service.produce();
      service.produce();
      assertThat(service.produced()).isEqualTo(2);
      assertThat(service.latest()).isEqualTo(writer.write(2).text());
    }
  }
}
