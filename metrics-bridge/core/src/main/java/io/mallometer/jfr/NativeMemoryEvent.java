package io.mallometer.jfr;

import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.CgroupMemory;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.Snapshot;
import java.time.Instant;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;
import jdk.jfr.Timestamp;

/**
 * The values of the latest poll. An unknown value is {@link Long#MIN_VALUE}, which Flight
 * Recorder's tools show as "N/A".
 */
@Name(NativeMemoryEvents.NATIVE_MEMORY)
@Label("Native Memory")
@Category({"Java Application", "mallometer"})
@Description("Native memory of the process, counted at every malloc and free")
@Period("10 s")
@StackTrace(false)
final class NativeMemoryEvent extends Event {

  @Label("State")
  @Description("Whether native allocations are counted")
  String state = "";

  @Label("Mode")
  @Description("How the library came to count: preloaded, attached or none")
  String mode = "";

  @Label("Since")
  @Description("When counting began")
  @Timestamp(Timestamp.MILLISECONDS_SINCE_EPOCH)
  long since = Long.MIN_VALUE;

  @Label("Live")
  @Description("Live native memory: allocated and not freed")
  @DataAmount
  long liveBytes;

  @Label("Live Objects")
  @Description("Live native objects")
  long liveObjects;

  @Label("Baseline")
  @Description(
      "Native memory that was live when mallometer attached; part of live until it is" + " freed")
  @DataAmount
  long baselineBytes;

  @Label("Peak")
  @Description("Peak of live native memory since counting began")
  @DataAmount
  long peakBytes;

  @Label("Allocated")
  @Description("Native memory allocated since counting began")
  @DataAmount
  long allocatedBytes;

  @Label("Allocations")
  @Description("Successful native allocations since counting began")
  long allocations;

  @Label("Retained")
  @Description("Free memory that the allocator retains")
  @DataAmount
  long retainedBytes;

  @Label("Resident Set")
  @DataAmount
  long residentBytes;

  @Label("Charged")
  @Description("Memory that the kernel charges to the cgroup")
  @DataAmount
  long chargedBytes;

  @Label("Limit")
  @Description("The cgroup's memory limit")
  @DataAmount
  long limitBytes;

  static NativeMemoryEvent of(Snapshot snapshot) {
    NativeMemoryEvent event = new NativeMemoryEvent();
    Optional<NativeCounters> counted = snapshot.process();
    Optional<CgroupMemory> cgroup = snapshot.memory().cgroup();
    event.state = snapshot.status().state().name();
    event.mode = snapshot.self().mode();
    event.since = snapshot.self().since().map(Instant::toEpochMilli).orElse(Long.MIN_VALUE);
    event.baselineBytes = known(counted, figures -> figures.baseline().bytes());
    event.liveBytes = known(counted, NativeCounters::liveBytes);
    event.liveObjects = known(counted, NativeCounters::liveObjects);
    event.peakBytes = known(counted, NativeCounters::peakBytes);
    event.allocatedBytes = known(counted, NativeCounters::allocatedBytes);
    event.allocations = known(counted, NativeCounters::allocations);
    event.retainedBytes = known(snapshot.allocator(), AllocatorStatistics::retainedBytes);
    event.residentBytes = known(snapshot.memory().residentBytes());
    event.chargedBytes = known(cgroup, CgroupMemory::chargedBytes);
    event.limitBytes = known(cgroup, CgroupMemory::limitBytes);
    return event;
  }

  private static <T> long known(Optional<T> source, ToDoubleFunction<T> figure) {
    return source.isPresent() ? known(figure.applyAsDouble(source.get())) : Long.MIN_VALUE;
  }

  private static long known(double figure) {
    return Double.isNaN(figure) ? Long.MIN_VALUE : (long) figure;
  }
}
