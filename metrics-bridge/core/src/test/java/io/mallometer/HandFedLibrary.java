package io.mallometer;

import io.mallometer.internal.library.FakeLibrary;
import io.mallometer.internal.library.OwnerSearch;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.CallSites;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.RecordingStatus;
import io.mallometer.model.SelfReport;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** A fake library that also counts its calls, and runs code of the test in the middle of them. */
public final class HandFedLibrary extends FakeLibrary {

  private volatile OwnerSearch ownerSearch = OwnerSearch.none("nothing can be searched");
  private volatile Runnable onAllocator = () -> {};
  private volatile Runnable onCallSites = () -> {};
  private volatile List<String> applicationPackages = List.of();
  private volatile RecordingStatus recording = RecordingStatus.off();
  private final AtomicInteger siteReadings = new AtomicInteger();
  private final AtomicInteger namings = new AtomicInteger();

  /** Starts with these counters, active. */
  public HandFedLibrary(NativeCounters counters, SelfReport self) {
    super(counters, self);
  }

  /** Sets the search that the next search for owners returns. */
  public void finds(OwnerSearch search) {
    ownerSearch = search;
  }

  /** Sets the status of the recording. */
  public void records(RecordingStatus status) {
    recording = status;
  }

  /** Runs code whenever the allocator's statistics are read. */
  public void onAllocator(Runnable action) {
    onAllocator = action;
  }

  /** Runs code whenever the call sites are read. */
  public void onCallSites(Runnable action) {
    onCallSites = action;
  }

  /** Returns how often the call sites were read. */
  public int siteReadings() {
    return siteReadings.get();
  }

  /** Returns how often new methods were named. */
  public int namings() {
    return namings.get();
  }

  /** Returns the packages that the latest reading of the call sites was given. */
  public List<String> applicationPackages() {
    return applicationPackages;
  }

  @Override
  public OwnerSearch searchOwners(int site) {
    return ownerSearch;
  }

  @Override
  public RecordingStatus recording() {
    return recording;
  }

  @Override
  public Optional<AllocatorStatistics> allocator(Instant time) {
    onAllocator.run();
    return super.allocator(time);
  }

  @Override
  public CallSites callSites(Instant time, List<String> packages, boolean whole) {
    applicationPackages = packages;
    siteReadings.incrementAndGet();
    onCallSites.run();
    return super.callSites(time, packages, whole);
  }

  @Override
  public void nameMethods() {
    namings.incrementAndGet();
  }
}
