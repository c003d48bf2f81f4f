package io.mallometer.model;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * The memory at one moment of the last hour, broken down by part.
 *
 * @param time the time of the reading
 * @param resident the resident bytes by part, from the latest reading before {@code time}; empty if
 *     there was none
 * @param charged the bytes charged to the cgroup, by part; empty outside a cgroup
 * @param limitBytes the cgroup's limit; {@code NaN} without one
 */
public record MemoryMoment(
    Instant time,
    Map<ResidentPart, Long> resident,
    Map<ChargedPart, Long> charged,
    double limitBytes) {

  public MemoryMoment {
    resident = Map.copyOf(resident);
    charged = Map.copyOf(charged);
  }

  /** Returns the memory of a snapshot, broken down by part. */
  public static MemoryMoment of(Snapshot snapshot) {
    Optional<ResidentMemory> resident = snapshot.memory().resident();
    Optional<CgroupMemory> cgroup = snapshot.memory().cgroup();
    return new MemoryMoment(
        snapshot.time(),
        resident.isPresent() ? resident.get().parts() : Map.of(),
        cgroup.isPresent() ? cgroup.get().parts() : Map.of(),
        cgroup.isPresent() ? cgroup.get().limitBytes() : Double.NaN);
  }
}
