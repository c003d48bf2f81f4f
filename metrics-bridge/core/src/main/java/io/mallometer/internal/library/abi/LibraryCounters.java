package io.mallometer.internal.library.abi;

import io.mallometer.model.Baseline;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.SizeDistribution;

final class LibraryCounters {

  private LibraryCounters() {}

  static NativeCounters process(Abi.Counters read) {
    Baseline baseline = baseline(read);
    boolean known = complete(read) && baseline.known();
    long largest = read.largestRequestBytes();
    return counters(
        read,
        known ? read.peakLiveBytes() : Double.NaN,
        known ? read.peakErrorBytes() + baseline.errorBytes() : Double.NaN,
        largest == 0 ? Double.NaN : largest,
        known ? read.liveBytes() : Double.NaN,
        baseline);
  }

  private static Baseline baseline(Abi.Counters read) {
    if (read.sinceNs() == 0) {
      return Baseline.NONE;
    }
    boolean unknown = (read.flags() & Abi.BASELINE_UNKNOWN) != 0;
    return new Baseline(unknown ? Double.NaN : read.baselineBytes(), read.baselineErrorBytes());
  }

  /** Returns the counters of a thread, without peak and largest request. */
  static NativeCounters thread(Abi.Counters read) {
    return counters(
        read,
        Double.NaN,
        Double.NaN,
        Double.NaN,
        complete(read) ? read.allocatedBytes() - read.freedBytes() : Double.NaN,
        Baseline.NONE);
  }

  private static NativeCounters counters(
      Abi.Counters read,
      double peak,
      double peakError,
      double largest,
      double live,
      Baseline baseline) {
    return new NativeCounters(
        SizeDistribution.of(read::allocations),
        read.frees(),
        read.failed(),
        read.requestedBytes(),
        read.allocatedBytes(),
        read.freedBytes(),
        peak,
        peakError,
        largest,
        read.hugeAllocations(),
        read.threads(),
        live,
        baseline,
        complete(read));
  }

  private static boolean complete(Abi.Counters read) {
    return (read.flags() & Abi.INCOMPLETE) == 0;
  }
}
