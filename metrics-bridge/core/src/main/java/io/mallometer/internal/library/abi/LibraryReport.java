package io.mallometer.internal.library.abi;

import io.mallometer.model.Attachment;
import io.mallometer.model.ByteUnit;
import io.mallometer.model.SelfReport;
import java.util.Optional;

final class LibraryReport {

  private static final double MILLION = 1e6;

  private LibraryReport() {}

  static ByteUnit byteUnit(Abi.Report read) {
    return switch (read.byteUnit()) {
      case Abi.UNIT_USABLE -> ByteUnit.USABLE;
      case Abi.UNIT_GLIBC_CHUNK -> ByteUnit.GLIBC_CHUNK;
      case Abi.UNIT_REQUESTED -> ByteUnit.REQUESTED;
      default -> ByteUnit.UNKNOWN;
    };
  }

  static boolean attached(Abi.Report read) {
    return read.mode() == Abi.MODE_ATTACHED;
  }

  static Optional<Attachment> attachment(Abi.Report read) {
    return attached(read)
        ? Optional.of(
            new Attachment(
                read.words(),
                read.wordsRefused(),
                read.callsUnseen(),
                read.attachLockNs() / 1e9,
                read.driftBytes(),
                read.driftBoundBytes()))
        : Optional.empty();
  }

  static SelfReport.Sampling sampling(Abi.Report read) {
    int target = read.overheadTargetPpm();
    return read.sampleIntervalBytes() == 0
        ? SelfReport.Sampling.OFF
        : new SelfReport.Sampling(
            read.sampleIntervalBytes(),
            read.samples(),
            new SelfReport.Missed(
                read.samplesWithoutSite(), read.samplesNotFollowed(), read.samplesWithoutPath()),
            target == 0 ? Double.NaN : target / MILLION,
            read.samplingSharePpm() / MILLION,
            read.tablesBytes(),
            new SelfReport.SlotPages(
                read.slotsAddress(),
                read.slotsReservedBytes(),
                read.slotsTakenBytes(),
                read.slotsExcessBytes()),
            new SelfReport.Ranges(
                read.ranges(),
                read.rangesForgotten(),
                read.rangesMissed(),
                read.rangesWithoutSite()));
  }
}
