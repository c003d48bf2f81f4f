package io.mallometer.samples.leaky;

import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Service;

/** Produces reports, and passes each to every step of the service. */
@Service
class ReportService {
  private final ReportWriter writer;
  private final ReportIndex index;
  private final ReportArchive archive;
  private final ColdStorage storage;
  private final TransferBuffers transfers;
  private final PrintSpool spool;
  private final AtomicLong lastNumber = new AtomicLong();
  private volatile byte @Nullable [] latest;

  ReportService(
      ReportWriter writer,
      ReportIndex index,
      ReportArchive archive,
      ColdStorage storage,
      TransferBuffers transfers,
      PrintSpool spool) {
    this.writer = writer;
    this.index = index;
    this.archive = archive;
    this.storage = storage;
    this.transfers = transfers;
    this.spool = spool;
  }

  /**
   * Produces the next report. The scheduler's thread and HTTP requests may call this method
   * concurrently.
   */
  synchronized void produce() throws SQLException, InterruptedException {
    Report report = writer.write(lastNumber.incrementAndGet());
    index.add(report);
    for (int search = 0; search < ReportIndex.SEARCHES; search++) {
      index.countLatest(report.customer(), report.number());
    }
    byte[] packed = archive.pack(report);
    storage.store(report);
    transfers.send(packed);
    spool.print(report);
    latest = packed;
  }

  long produced() {
    return lastNumber.get();
  }

  String latest() {
    byte[] packed = latest;
    return packed == null ? "" : archive.unpack(packed);
  }
}
