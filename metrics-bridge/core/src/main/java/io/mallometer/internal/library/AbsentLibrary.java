package io.mallometer.internal.library;

import io.mallometer.internal.leak.evidence.Evidence;
import io.mallometer.internal.leak.evidence.MemorySearch;
import io.mallometer.internal.leak.evidence.WatchedAccess;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.CallSites;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.RecordingStatus;
import io.mallometer.model.ScopeOptions;
import io.mallometer.model.SelfReport;
import io.mallometer.model.SizeDistribution;
import io.mallometer.model.Snapshot;
import io.mallometer.model.StackFrame;
import io.mallometer.model.Status;
import io.mallometer.model.TerminationMessage;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** A library that is absent, or cannot be read: it has a status and no counters. */
public class AbsentLibrary implements NativeLibrary {

  private final Status status;
  private final String allocator;
  private final boolean unreadable;

  private AbsentLibrary(Status status, String allocator, boolean unreadable) {
    this.status = status;
    this.allocator = allocator;
    this.unreadable = unreadable;
  }

  public AbsentLibrary(Status status, String allocator) {
    this(status, allocator, false);
  }

  public AbsentLibrary(Status status) {
    this(status, SelfReport.UNKNOWN, false);
  }

  public static AbsentLibrary unreadable(Status status) {
    return new AbsentLibrary(status, SelfReport.UNKNOWN, true);
  }

  /** Returns whether reading the library, or loading JNA, has failed. */
  public boolean unreadable() {
    return unreadable;
  }

  @Override
  public boolean present() {
    return false;
  }

  @Override
  public Snapshot read(Instant time) {
    return new Snapshot(time, status, Optional.empty(), SelfReport.absent(allocator));
  }

  @Override
  public Optional<NativeCounters> process() {
    return Optional.empty();
  }

  @Override
  public Optional<NativeCounters> thread() {
    return Optional.empty();
  }

  @Override
  public Optional<AllocatorStatistics> allocator(Instant time) {
    return Optional.empty();
  }

  @Override
  public boolean trim() {
    return false;
  }

  @Override
  public Status attach() {
    return read(Instant.now()).status();
  }

  @Override
  public Status detach() {
    return read(Instant.now()).status();
  }

  @Override
  public void stayAttached() {}

  @Override
  public OpenScope threadScope(ScopeOptions options) {
    return CountedScope.ofThread(this);
  }

  @Override
  public OpenScope processScope() {
    return CountedScope.ofProcess(this);
  }

  @Override
  public void sampleClosely(boolean closely) {}

  @Override
  public void nameMethods() {}

  @Override
  public boolean nameCompiledMethods(boolean names) {
    return true;
  }

  @Override
  public void observeUse(Duration shortestEpoch) {}

  @Override
  public void ignoreUse() {}

  @Override
  public Evidence evidence() {
    return Evidence.none(
        System.nanoTime(), "the native library is not loaded, so nothing is observed");
  }

  @Override
  public String watchUse(List<Integer> sites) {
    return "the native library is not loaded, so nothing is watched";
  }

  @Override
  public List<WatchedAccess> watchedAccesses() {
    return List.of();
  }

  @Override
  public String searchMemory(List<Integer> sites, long mostBytes) {
    return "the native library is not loaded, so nothing can be searched";
  }

  @Override
  public MemorySearch memorySearch() {
    return MemorySearch.none("the native library is not loaded, so nothing can be searched");
  }

  @Override
  public OwnerSearch searchOwners(int site) {
    return OwnerSearch.none("the native library is not loaded, so nothing can be searched");
  }

  @Override
  public Optional<List<Class<?>>> initializedClasses(List<String> endings) {
    return Optional.empty();
  }

  @Override
  public List<MappedRange> mappedRanges() {
    return List.of();
  }

  @Override
  public List<StackFrame> stackOf(HugeAllocation request) {
    return List.of();
  }

  @Override
  public RequestWatch watchRequests(long bytes, int thread) {
    return RequestWatch.none("the native library is not there to watch anything");
  }

  @Override
  public String countReturnedSizes(boolean counts) {
    return "the native library is not loaded, so returned sizes are not counted";
  }

  @Override
  public Optional<SizeDistribution> returnedSizes() {
    return Optional.empty();
  }

  @Override
  public RecordingStatus recording() {
    return RecordingStatus.off();
  }

  @Override
  public RecordingStatus record(Path path) {
    return RecordingStatus.off();
  }

  @Override
  public String writeRecording(int kind, int percent, byte[] content) {
    return "the native library is not loaded, so nothing is recorded";
  }

  @Override
  public boolean beginMessage(String path) {
    return false;
  }

  @Override
  public void prepareMessage(String sentence) {}

  @Override
  public void endMessage() {}

  @Override
  public TerminationMessage message() {
    return TerminationMessage.off("", "the native library is not loaded");
  }

  @Override
  public CallSites callSites(Instant time, List<String> applicationPackages, boolean whole) {
    return CallSites.none(time, "the native library is not loaded, so nothing records them");
  }
}
