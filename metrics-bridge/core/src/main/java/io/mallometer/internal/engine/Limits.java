package io.mallometer.internal.engine;

import io.mallometer.internal.leak.Room;
import io.mallometer.model.CgroupMemory;
import io.mallometer.model.Conclusion.Limit;
import io.mallometer.model.ProcessMemory;
import java.util.OptionalLong;

/** How much memory the process may use: as stated, else by its cgroup, else by the machine. */
final class Limits {

  static final String STATED = "stated";
  static final String CGROUP = "cgroup";
  static final String MACHINE = "machine";

  private Limits() {}

  /**
   * Returns the limit that holds.
   *
   * @param stated by a person, for the resident set; empty if nobody stated one
   */
  static Limit of(ProcessMemory memory, OptionalLong stated) {
    if (stated.isPresent()) {
      return Limit.of(stated.getAsLong(), memory.residentBytes(), STATED);
    }
    double cgroup = memory.cgroup().map(CgroupMemory::limitBytes).orElse(Double.NaN);
    if (!Double.isNaN(cgroup)) {
      return Limit.of(cgroup, memory.cgroup().get().usedBytes(), CGROUP);
    }
    double machine = memory.machineBytes();
    return Double.isNaN(machine)
        ? Limit.NONE
        : Limit.of(machine, machine - memory.availableBytes(), MACHINE);
  }

  /** Returns the limit as verdicts need it. */
  static Room room(Limit limit) {
    return new Room(limit.bytes(), limit.usedBytes());
  }
}
