package io.mallometer.internal.pool;

import io.mallometer.internal.text.HumanText;
import io.mallometer.model.Estimate;
import io.mallometer.model.PoolReport.Amounts;
import io.mallometer.model.PoolReport.BufferSite;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

final class PoolText {

  private PoolText() {}

  static String sentence(PoolReading reading, List<BufferSite> bufferSites) {
    Amounts amounts = reading.amounts();
    StringBuilder text = new StringBuilder();
    text.append(Double.isNaN(amounts.bytes()) ? "Pools" : HumanText.bytes(amounts.bytes()));
    if (!Double.isNaN(amounts.chunks())) {
      text.append(" in ").append(count(amounts.chunks(), "chunk"));
    }
    text.append(" of ").append(reading.origin().library());
    text.append(reading.origin().kind().isEmpty() ? "" : " (" + reading.origin().kind() + ")");
    if (!Double.isNaN(amounts.usedBytes())) {
      text.append(", ").append(HumanText.bytes(amounts.usedBytes())).append(" used");
    }
    if (amounts.cachedBytes() > 0) {
      text.append(", ").append(HumanText.bytes(amounts.cachedBytes())).append(" of that cached");
    }
    mostHeld(bufferSites).ifPresent(site -> text.append("; ").append(keeps(site)));
    if (!reading.reason().isEmpty()) {
      text.append("; ").append(reading.reason());
    }
    return text.toString();
  }

  private static Optional<BufferSite> mostHeld(List<BufferSite> bufferSites) {
    return bufferSites.stream().filter(BufferSite::isHeld).findFirst();
  }

  private static String keeps(BufferSite site) {
    return "%s from %s keep at least %s"
        .formatted(buffers(site.buffers()), HumanText.shortLine(site.line()), chunks(site));
  }

  private static String chunks(BufferSite site) {
    int chunks = site.tracks().chunks();
    return chunks == 1 ? "one of them" : chunks + " of them";
  }

  private static String buffers(Estimate buffers) {
    return buffers.variance() > 0
        ? "%s (%s to %s) buffers"
            .formatted(grouped(buffers.value()), grouped(buffers.low()), grouped(buffers.high()))
        : count(buffers.value(), "buffer");
  }

  static String suspect(String line, HoldTime time, double seconds) {
    return ("Buffers from %s are held longer and longer: %d tracked ones were held for more than a"
            + " minute, for up to %s, %s released, and more arrive")
        .formatted(
            HumanText.shortLine(line),
            time.late(),
            HumanText.duration(Duration.ofMillis(Math.round(seconds * 1e3))),
            time.releasedLate() == 0
                ? "none was"
                : time.releasedLate() == 1 ? "one was" : time.releasedLate() + " were");
  }

  static String forgotten(String line, Estimate buffers) {
    return "%s from %s were dropped without release; their memory is lost to the pool"
        .formatted(buffers(buffers), HumanText.shortLine(line));
  }

  private static String count(double number, String thing) {
    return grouped(number) + " " + thing + (number == 1 ? "" : "s");
  }

  /**
   * Returns a number, rounded to three significant digits and grouped by commas, such as {@code
   * 2,050}.
   */
  static String grouped(double number) {
    double unit = number < 1000 ? 1 : Math.pow(10, Math.floor(Math.log10(number)) - 2);
    StringBuilder digits = new StringBuilder(HumanText.number(Math.rint(number / unit) * unit));
    for (int i = digits.length() - 3; i > 0; i -= 3) {
      digits.insert(i, ',');
    }
    return digits.toString();
  }
}
