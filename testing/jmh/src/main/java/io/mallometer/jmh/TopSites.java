package io.mallometer.jmh;

import io.mallometer.Mallometer;
import io.mallometer.internal.text.HumanText;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Lists the call sites that allocate most in the measured iterations, estimated from samples. */
final class TopSites {

  private static final int MOST_FRAMES = 8;
  private static final int MOST_PAUSES = 100;
  private static final int PAUSE_MILLIS = 20;

  private final Mallometer mallometer;
  private final int most;
  private final Map<Integer, Double> before = new HashMap<>();
  private final Instant readAt;
  private long operations;
  private int iterations;

  TopSites(Mallometer mallometer, int most) {
    this.mallometer = mallometer;
    this.most = most;
    CallSites read = mallometer.sites().read();
    this.readAt = read.time();
    for (CallSite site : read.sites()) {
      before.put(site.number(), site.allocatedBytes().value());
    }
  }

  /**
   * Counts an iteration with {@code more} operations. Returns whether {@code all} iterations have
   * been counted.
   */
  boolean isLast(long more, int all) {
    operations += more;
    return ++iterations == all;
  }

  String listed() {
    StringBuilder text = new StringBuilder();
    List<CallSite> sites = readAnew().ofApplication().sites();
    sites.stream()
        .filter(site -> allocated(site) > 0)
        .sorted(Comparator.comparingDouble(this::allocated).reversed())
        .limit(most)
        .forEach(site -> add(site, text));
    return text.toString();
  }

  /**
   * Waits for a reading that is newer than the constructor's, because {@code read()} returns the
   * same reading for one second.
   */
  private CallSites readAnew() {
    CallSites read = mallometer.sites().read();
    try {
      for (int i = 0; i < MOST_PAUSES && read.time().equals(readAt); i++) {
        Thread.sleep(PAUSE_MILLIS);
        read = mallometer.sites().read();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return read;
  }

  private double allocated(CallSite site) {
    return site.allocatedBytes().value() - before.getOrDefault(site.number(), 0.0);
  }

  private void add(CallSite site, StringBuilder text) {
    text.append(
        "about %s/op  %s%n".formatted(HumanText.bytes(allocated(site) / operations), site.name()));
    site.frames().stream()
        .limit(MOST_FRAMES)
        .forEach(frame -> text.append("    ").append(frame).append(System.lineSeparator()));
  }
}
