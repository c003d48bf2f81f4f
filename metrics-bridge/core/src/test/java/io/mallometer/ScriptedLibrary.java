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

/** A fake library that also counts some calls, and runs code of the test during some calls. */
public final class ScriptedLibrary extends FakeLibrary {

  private volatile OwnerSearch ownerSearch = OwnerSearch.none("nothing can be searched");
  private volatile Runnable onAllocatorReading = () -> {};
  private volatile Runnable onCallSiteReading = () -> {};
  private volatile List<String> applicationPackages = List.of();
  private volatile RecordingStatus recording = RecordingStatus.off();
  private final AtomicInteger callSiteReadings = new AtomicInteger();
  private final AtomicInteger methodNamings = new AtomicInteger();

  public ScriptedLibrary(NativeCounters counters, SelfReport self) {
    super(counters, self);
  }

  public void setOwnerSearch(OwnerSearch search) {
    ownerSearch = search;
  }

  public void setRecording(RecordingStatus status) {
    recording = status;
  }

  public void onAllocatorReading(Runnable action) {
    onAllocatorReading = action;
  }

  public void onCallSiteReading(Runnable action) {
    onCallSiteReading = action;
  }

  public int callSiteReadings() {
    return callSiteReadings.get();
  }

  public int methodNamings() {
    return methodNamings.get();
  }

  /** Returns the packages that were given to the latest reading of the call sites. */
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
    onAllocatorReading.run();
    return super.allocator(time);
  }

  @Override
  public CallSites callSites(Instant time, List<String> packages, boolean whole) {
    applicationPackages = packages;
    callSiteReadings.incrementAndGet();
    onCallSiteReading.run();
    return super.callSites(time, packages, whole);
  }

  @Override
  public void nameMethods() {
    methodNamings.incrementAndGet();
  }
}
