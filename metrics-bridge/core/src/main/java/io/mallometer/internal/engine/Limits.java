package io.mallometer.internal.engine;

import io.mallometer.internal.leak.Room;
import io.mallometer.model.CgroupMemory;
import io.mallometer.model.Conclusion.Limit;
import io.mallometer.model.ProcessMemory;
import java.util.OptionalLong;

/**
 * How much memory the process may use: as stated or by its cgroup, whichever leaves less, else by
 * the machine.
 */
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
    double most = memory.cgroup().map(CgroupMemory::limitBytes).orElse(Double.NaN);
    double used = memory.cgroup().map(CgroupMemory::usedBytes).orElse(Double.NaN);
    double left = stated.orElse(0) - memory.residentBytes();
    if (stated.isPresent() && !(left > most - used)) {
      return Limit.of(stated.getAsLong(), memory.residentBytes(), STATED);
    }
    if (!Double.isNaN(most)) {
      return Limit.of(most, used, CGROUP);
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
