package io.mallometer.internal.engine;

import io.mallometer.internal.interposer.Interposer;
import io.mallometer.internal.interposer.OwnerSearch;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.CallSites;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.RecordingStatus;
import io.mallometer.model.SelfReport;
import io.mallometer.model.Snapshot;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** A library that counts what a test says, at the time that the test says. */
public final class HandFedInterposer implements Interposer {

  private volatile boolean present = true;
  private volatile Status status = Status.counting();
  private volatile NativeCounters counters;
  private volatile SelfReport self;
  private volatile ProcessMemory memory = ProcessMemory.unknown();
  private volatile Optional<String> applicationVersion = Optional.empty();
  private volatile Optional<AllocatorStatistics> allocator = Optional.empty();
  private volatile List<HugeAllocation> hugeAllocations = List.of();
  private volatile Optional<CallSites> callSites = Optional.empty();
  private volatile OwnerSearch ownerSearch = OwnerSearch.none("nothing can be searched");
  private volatile Runnable onAllocator = () -> {};
  private volatile Runnable onCallSites = () -> {};
  private volatile List<String> applicationPackages = List.of();
  private volatile RecordingStatus recording = RecordingStatus.off();
  private final AtomicInteger siteReadings = new AtomicInteger();
  private final AtomicInteger namings = new AtomicInteger();
  private final AtomicInteger trims = new AtomicInteger();
  private volatile Instant now = Instant.parse("2026-01-01T00:00:00Z");

  /** Starts with these counters, active. */
  public HandFedInterposer(NativeCounters counters, SelfReport self) {
    this.counters = counters;
    this.self = self;
  }

  /** What the next search for owners finds. */
  public void finds(OwnerSearch search) {
    ownerSearch = search;
  }

  @Override
  public OwnerSearch searchOwners(int site) {
    return ownerSearch;
  }

  /** What the library says of its recording. */
  public void records(RecordingStatus recording) {
    this.recording = recording;
  }

  /** What the next poll reads. */
  public void counts(NativeCounters counters) {
    this.counters = counters;
  }

  /** What the library says of itself at the next poll. */
  public void reports(SelfReport self) {
    this.self = self;
  }

  /** What the operating system says at the next poll. */
  public void remembers(ProcessMemory memory) {
    this.memory = memory;
  }

  /** The application's version at the next poll. */
  public void isOfVersion(String version) {
    this.applicationVersion = Optional.of(version);
  }

  /** What the allocator says at the next poll. */
  public void says(AllocatorStatistics statistics) {
    this.allocator = Optional.of(statistics);
  }

  /** What happens while the allocator is asked. */
  public void onAllocator(Runnable action) {
    this.onAllocator = action;
  }

  /** The call sites that are known. */
  public void knows(CallSites sites) {
    this.callSites = Optional.of(sites);
  }

  /** What happens while the call sites are read. */
  public void onCallSites(Runnable action) {
    this.onCallSites = action;
  }

  /** How often the call sites were read. */
  public int siteReadings() {
    return siteReadings.get();
  }

  /** How often new methods were named. */
  public int namings() {
    return namings.get();
  }

  /** By which packages the sites of the latest reading were to be named. */
  public List<String> applicationPackages() {
    return applicationPackages;
  }

  /** The huge requests that the next poll finds. */
  public void notes(List<HugeAllocation> allocations) {
    this.hugeAllocations = allocations;
  }

  /** How often the allocator was trimmed. */
  public int trims() {
    return trims.get();
  }

  /** What the next poll finds. A status that is UNAVAILABLE should be set before opening. */
  public void becomes(Status status) {
    this.status = status;
    this.present = status.state() != State.UNAVAILABLE;
  }

  /** Lets time pass. */
  public void elapse(Duration duration) {
    now = now.plus(duration);
  }

  @Override
  public boolean present() {
    return present;
  }

  @Override
  public Snapshot read(Instant time) {
    Snapshot counted =
        present
            ? new Snapshot(time, status, process(), self, hugeAllocations)
            : Snapshot.absent(time, status);
    return counted
        .with(memory)
        .with(present ? allocator : Optional.empty())
        .withApplicationVersion(applicationVersion);
  }

  @Override
  public Optional<NativeCounters> process() {
    return status.active() ? Optional.of(counters) : Optional.empty();
  }

  @Override
  public Optional<NativeCounters> thread() {
    return process();
  }

  @Override
  public Optional<AllocatorStatistics> allocator(Instant time) {
    onAllocator.run();
    return present ? allocator : Optional.empty();
  }

  @Override
  public CallSites callSites(Instant time, List<String> applicationPackages) {
    this.applicationPackages = applicationPackages;
    return callSites(time);
  }

  @Override
  public CallSites callSites(Instant time) {
    siteReadings.incrementAndGet();
    onCallSites.run();
    return callSites.orElseGet(() -> Interposer.super.callSites(time));
  }

  @Override
  public void nameMethods() {
    namings.incrementAndGet();
  }

  @Override
  public RecordingStatus recording() {
    return recording;
  }

  @Override
  public boolean trim() {
    return present && trims.incrementAndGet() > 0;
  }

  /** The same time in nanoseconds, as {@link System#nanoTime()}. */
  public long nanoTime() {
    return ChronoUnit.NANOS.between(Instant.EPOCH, now);
  }

  /** The clock that the test moves. */
  public Clock clock() {
    InstantSource source = () -> now;
    return source.withZone(ZoneOffset.UTC);
  }
}
