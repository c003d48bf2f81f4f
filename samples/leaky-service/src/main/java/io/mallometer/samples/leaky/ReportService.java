package io.mallometer.samples.leaky;

import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Service;

/** Produces reports: each is written, indexed, archived, stored, sent and printed. */
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
   * Produces the next report. The built-in load and HTTP requests may call this method at the same
   * time.
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

  /** Returns the number of reports so far. */
  long produced() {
    return lastNumber.get();
  }

  /** Returns the text of the latest report; empty before the first. */
  String latest() {
    byte[] packed = latest;
    return packed == null ? "" : archive.unpack(packed);
  }
}
