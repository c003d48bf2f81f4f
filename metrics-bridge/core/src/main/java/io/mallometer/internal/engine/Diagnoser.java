package io.mallometer.internal.engine;

import io.mallometer.internal.diagnosis.AccountReadings;
import io.mallometer.internal.diagnosis.DiagnosisInput;
import io.mallometer.internal.diagnosis.DiagnosisRules;
import io.mallometer.internal.diagnosis.HeldDiagnosis;
import io.mallometer.internal.history.History;
import io.mallometer.internal.process.ProcessCounts;
import io.mallometer.internal.text.Log;
import io.mallometer.model.ClassLoaders;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.LeakReport;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.PreviousRun;
import io.mallometer.model.SiteTrends;
import io.mallometer.model.Snapshot;
import io.mallometer.model.Status;
import java.time.Instant;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Adds each snapshot to the histories, and computes the diagnosis every 15 seconds, or every second
 * near the memory limit. Computes it at once after new verdicts on leaks, a new status, or a new
 * reading of the parts of the resident set.
 */
final class Diagnoser {

  /**
   * Facts that the diagnosis needs besides snapshots.
   *
   * @param loaders reads class metadata by class loader, which stops the program for some
   *     milliseconds
   */
  record Facts(
      Supplier<Optional<SiteTrends>> sites,
      Supplier<LeakReport> leaks,
      Supplier<MallometerOptions> options,
      Supplier<Optional<PreviousRun>> previous,
      Supplier<ClassLoaders> loaders) {}

  private static final long LOADERS_NANOS = 600_000_000_000L;

  private static final long PACE_NANOS = 15_000_000_000L;
  private static final long PACE_NEAR_NANOS = 1_000_000_000L;
  private static final double NEAR_THE_LIMIT = 0.85;

  private final Facts facts;
  private final HeldDiagnosis held;
  private final History history;
  private final LongSupplier nanoTime;
  private final AccountReadings readings = new AccountReadings(ProcessCounts::read);
  private final Log.Once failure = Log.MALLOMETER.once();
  private final Log.Once loadersFailure = Log.MALLOMETER.once();

  /** The latest diagnosis. The poller's lock guards this field and those below. */
  private @Nullable Diagnosis latest;

  private @Nullable LeakReport drawnFrom;
  private @Nullable Status drawnStatus;
  private @Nullable Instant drawnDivision;
  private long drawnAt;
  private @Nullable ClassLoaders loaders;
  private long loadersReadAt;

  Diagnoser(Facts facts, HeldDiagnosis held, History history, LongSupplier nanoTime) {
    this.facts = facts;
    this.held = held;
    this.history = history;
    this.nanoTime = nanoTime;
  }

  /** Resets the state of the diagnosis to "too early", for example after an attach. */
  void reset() {
    held.reset();
  }

  /**
   * Returns the snapshot with the latest diagnosis. If no new one can be computed, logs the failure
   * and keeps the previous one.
   */
  Snapshot conclude(Snapshot snapshot) {
    long now = nanoTime.getAsLong();
    history.add(snapshot, now);
    readings.add(snapshot, now);
    if (isDue(snapshot, now)) {
      try {
        latest = drawn(snapshot);
      } catch (RuntimeException | LinkageError e) {
        failure.warn("No diagnosis can be drawn; the last one stays", e);
      }
    }
    return latest == null ? snapshot : snapshot.with(latest);
  }

  private boolean isDue(Snapshot snapshot, long now) {
    LeakReport leaks = facts.leaks().get();
    Instant divided = readings.latest();
    boolean near = snapshot.memory().limit().usedShare() >= NEAR_THE_LIMIT;
    if (leaks == drawnFrom
        && divided.equals(drawnDivision)
        && snapshot.status().equals(drawnStatus)
        && now - drawnAt < (near ? PACE_NEAR_NANOS : PACE_NANOS)) {
      return false;
    }
    drawnDivision = divided;
    drawnStatus = snapshot.status();
    drawnFrom = leaks;
    drawnAt = now;
    return true;
  }

  private Diagnosis drawn(Snapshot snapshot) {
    Diagnosis drawn =
        DiagnosisRules.diagnosis(
            new DiagnosisInput(
                snapshot,
                history.points(),
                readings.all(),
                facts.sites().get(),
                facts.leaks().get(),
                facts.options().get(),
                new DiagnosisInput.Run(
                    held.started(),
                    held.startedUp(snapshot.time()),
                    facts.previous().get(),
                    Optional.ofNullable(loaders)),
                held.latest()));
    Diagnosis shown = held.update(drawn, nanoTime.getAsLong());
    readLoaders(drawn);
    return shown;
  }

  private void readLoaders(Diagnosis drawn) {
    long now = nanoTime.getAsLong();
    boolean due = loadersReadAt == 0 || now - loadersReadAt >= LOADERS_NANOS;
    if (due && DiagnosisRules.classesGrow(drawn.account())) {
      loadersReadAt = now;
      try {
        loaders = facts.loaders().get();
      } catch (RuntimeException | LinkageError e) {
        loadersFailure.warn("Class loaders cannot be read", e);
      }
    }
  }
}
