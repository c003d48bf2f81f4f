package io.mallometer.internal.library.load;

import io.mallometer.internal.leak.evidence.Evidence;
import io.mallometer.internal.leak.evidence.MemorySearch;
import io.mallometer.internal.leak.evidence.WatchedAccess;
import io.mallometer.internal.library.AbsentLibrary;
import io.mallometer.internal.library.MappedRange;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.library.OpenScope;
import io.mallometer.internal.library.OwnerSearch;
import io.mallometer.internal.library.RequestWatch;
import io.mallometer.internal.library.abi.LibraryHandle;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.CallSites;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.RecordingStatus;
import io.mallometer.model.ScopeOptions;
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

/**
 * The library of this process. It can be opened later, by {@link #attach} or by another class
 * loader. An {@link AbsentLibrary} stands for a library that cannot be reached.
 */
public final class ProcessLibrary implements NativeLibrary {

  private volatile NativeLibrary current = Availability.ofThisProcess();
  private volatile boolean lookedFor;

  @Override
  public boolean present() {
    return current.present();
  }

  @Override
  public Snapshot read(Instant time) {
    return latest().read(time);
  }

  private NativeLibrary latest() {
    NativeLibrary known = current;
    return known.present() || lookedFor || !LibraryHandle.attached() ? known : found();
  }

  private synchronized NativeLibrary found() {
    lookedFor = true;
    if (!current.present()) {
      current = Availability.ofThisProcess();
    }
    return current;
  }

  /**
   * Attaches the library. If it could not be opened or read before, this is not tried again,
   * because JNA states the cause only at its first failure.
   */
  @Override
  public synchronized Status attach() {
    NativeLibrary library = latest();
    if (library instanceof AbsentLibrary absent && !absent.unreadable()) {
      library = Availability.loaded();
    }
    current = library;
    Optional<String> objection = AttachVariable.objection();
    if (library.present() && objection.isPresent()) {
      Status now = library.read(Instant.now()).status();
      return now.active() ? now : Availability.attachForbidden(objection.get());
    }
    Status status = library.attach();
    if (status.active()) {
      LibraryHandle.tellOthers();
    }
    return status;
  }

  @Override
  public Status detach() {
    return latest().detach();
  }

  @Override
  public void stayAttached() {
    current.stayAttached();
  }

  @Override
  public Optional<NativeCounters> process() {
    return current.process();
  }

  @Override
  public Optional<NativeCounters> thread() {
    return current.thread();
  }

  @Override
  public OpenScope threadScope(ScopeOptions options) {
    return current.threadScope(options);
  }

  @Override
  public OpenScope processScope() {
    return current.processScope();
  }

  @Override
  public Optional<AllocatorStatistics> allocator(Instant time) {
    return current.allocator(time);
  }

  @Override
  public boolean trim() {
    return current.trim();
  }

  @Override
  public Optional<List<Class<?>>> initializedClasses(List<String> endings) {
    return current.initializedClasses(endings);
  }

  @Override
  public List<MappedRange> mappedRanges() {
    return current.mappedRanges();
  }

  @Override
  public List<StackFrame> stackOf(HugeAllocation request) {
    return current.stackOf(request);
  }

  @Override
  public RequestWatch watchRequests(long bytes, int thread) {
    return latest().watchRequests(bytes, thread);
  }

  @Override
  public String countReturnedSizes(boolean counts) {
    return latest().countReturnedSizes(counts);
  }

  @Override
  public Optional<SizeDistribution> returnedSizes() {
    return current.returnedSizes();
  }

  @Override
  public CallSites callSites(Instant time, List<String> applicationPackages, boolean whole) {
    return current.callSites(time, applicationPackages, whole);
  }

  @Override
  public void sampleClosely(boolean closely) {
    current.sampleClosely(closely);
  }

  @Override
  public void nameMethods() {
    current.nameMethods();
  }

  @Override
  public boolean nameCompiledMethods(boolean names) {
    return current.nameCompiledMethods(names);
  }

  @Override
  public void observeUse(Duration shortestEpoch) {
    current.observeUse(shortestEpoch);
  }

  @Override
  public void ignoreUse() {
    current.ignoreUse();
  }

  @Override
  public Evidence evidence() {
    return current.evidence();
  }

  @Override
  public String watchUse(List<Integer> sites) {
    return current.watchUse(sites);
  }

  @Override
  public List<WatchedAccess> watchedAccesses() {
    return current.watchedAccesses();
  }

  @Override
  public String searchMemory(List<Integer> sites, long mostBytes) {
    return current.searchMemory(sites, mostBytes);
  }

  @Override
  public MemorySearch memorySearch() {
    return current.memorySearch();
  }

  @Override
  public OwnerSearch searchOwners(int site) {
    return current.searchOwners(site);
  }

  @Override
  public RecordingStatus recording() {
    return current.recording();
  }

  @Override
  public RecordingStatus record(Path path) {
    return current.record(path);
  }

  @Override
  public String writeRecording(int kind, int percent, byte[] content) {
    return current.writeRecording(kind, percent, content);
  }

  @Override
  public boolean beginMessage(String path) {
    return current.beginMessage(path);
  }

  @Override
  public void prepareMessage(String sentence) {
    current.prepareMessage(sentence);
  }

  @Override
  public void endMessage() {
    current.endMessage();
  }

  @Override
  public TerminationMessage message() {
    return current.message();
  }
}
