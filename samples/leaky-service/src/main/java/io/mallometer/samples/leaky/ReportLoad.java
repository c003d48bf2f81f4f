package io.mallometer.samples.leaky;

import java.sql.SQLException;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * Produces a steady number of reports a second on one thread. If the thread is too slow, it drops
 * reports.
 */
class ReportLoad {
  static final int MOST_REPORTS_PER_SECOND = 100;

  private static final Logger log = LoggerFactory.getLogger(ReportLoad.class);

  private final ReportService reports;
  private final Allowance allowance;
  private int reportsPerSecond;

  ReportLoad(ReportService reports, int reportsPerSecond, LongSupplier nanoTime) {
    this.reports = reports;
    this.reportsPerSecond = checked(reportsPerSecond);
    this.allowance = new Allowance(reportsPerSecond, nanoTime);
  }

  synchronized int reportsPerSecond() {
    return reportsPerSecond;
  }

  synchronized void change(int newReportsPerSecond) {
    reportsPerSecond = checked(newReportsPerSecond);
    allowance.rate(newReportsPerSecond);
  }

  @Scheduled(fixedRate = 50)
  void work() {
    try {
      while (isReportDue()) {
        reports.produce();
      }
    } catch (SQLException failed) {
      log.warn("A report could not be produced", failed);
    } catch (InterruptedException shutdown) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized boolean isReportDue() {
    return allowance.spend(1);
  }

  private static int checked(int reportsPerSecond) {
    if (reportsPerSecond < 0 || reportsPerSecond > MOST_REPORTS_PER_SECOND) {
      throw new IllegalArgumentException(
          "reports per second must be from 0 to "
              + MOST_REPORTS_PER_SECOND
              + ", not "
              + reportsPerSecond);
    }
    return reportsPerSecond;
  }
}
