package io.mallometer.internal.library;

import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.CallSites;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.PoolReport;
import io.mallometer.model.ProcessMemory;
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

/** A library whose counters and time a test sets. */
public class FakeLibrary extends AbsentLibrary {

  private volatile boolean present = true;
  private volatile Status status = Status.counting();
  private volatile NativeCounters counters;
  private volatile SelfReport self;
  private volatile ProcessMemory memory = ProcessMemory.unknown();
  private volatile Optional<String> applicationVersion = Optional.empty();
  private volatile Optional<AllocatorStatistics> allocator = Optional.empty();
  private volatile Optional<PoolReport> pools = Optional.empty();
  private volatile List<HugeAllocation> hugeAllocations = List.of();
  private volatile Optional<CallSites> callSites = Optional.empty();
  private final AtomicInteger trims = new AtomicInteger();
  private volatile Instant now = Instant.parse("2026-01-01T00:00:00Z");

  public FakeLibrary(NativeCounters counters, SelfReport self) {
    super(Status.counting());
    this.counters = counters;
    this.self = self;
  }

  public void setCounters(NativeCounters counters) {
    this.counters = counters;
  }

  public void setSelfReport(SelfReport self) {
    this.self = self;
  }

  public void setMemory(ProcessMemory memory) {
    this.memory = memory;
  }

  public void setApplicationVersion(String version) {
    this.applicationVersion = Optional.of(version);
  }

  public void setAllocator(AllocatorStatistics statistics) {
    this.allocator = Optional.of(statistics);
  }

  public void pools(PoolReport report) {
    this.pools = Optional.of(report);
  }

  public void setCallSites(CallSites sites) {
    this.callSites = Optional.of(sites);
  }

  public void setHugeAllocations(List<HugeAllocation> allocations) {
    this.hugeAllocations = allocations;
  }

  public int trims() {
    return trims.get();
  }

  /** Sets the status of the next poll. Set UNAVAILABLE before {@code Mallometer} is opened. */
  public void setStatus(Status status) {
    this.status = status;
    this.present = status.state() != State.UNAVAILABLE;
  }

  public void advanceClock(Duration duration) {
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
        .withPools(pools)
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
    return present ? allocator : Optional.empty();
  }

  @Override
  public CallSites callSites(Instant time, List<String> applicationPackages, boolean whole) {
    return callSites.orElseGet(() -> super.callSites(time, applicationPackages, whole));
  }

  @Override
  public boolean trim() {
    return present && trims.incrementAndGet() > 0;
  }

  public long nanoTime() {
    return ChronoUnit.NANOS.between(Instant.EPOCH, now);
  }

  public Clock clock() {
    InstantSource source = () -> now;
    return source.withZone(ZoneOffset.UTC);
  }
}
