package io.mallometer.internal.library.abi;

import io.mallometer.model.AllocatorKind;
import io.mallometer.model.AllocatorStatistics;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads the allocator's statistics through the library, into memory that is allocated once. */
final class LibraryAllocator {

  private final Abi.AllocatorState state =
      new Abi.AllocatorState(Structs.keep(Abi.AllocatorState.BYTES));
  private final ByteBuffer arenas = Structs.keep(Abi.Arena.BYTES * AllocatorStatistics.MOST_ARENAS);

  synchronized Optional<AllocatorStatistics> read(Instant time) {
    long start = System.nanoTime();
    int result =
        LibraryFunctions.mallometer_allocator(
            Structs.address(state.memory()),
            Structs.address(arenas),
            AllocatorStatistics.MOST_ARENAS);
    double cost = (System.nanoTime() - start) / 1e9;
    return result == 0 ? Optional.of(statistics(time, cost)) : Optional.empty();
  }

  private AllocatorStatistics statistics(Instant time, double costSeconds) {
    return new AllocatorStatistics(
        time,
        kind(state.kind()),
        known(state.arenas()),
        known(state.systemBytes()),
        known(state.usedBytes()),
        known(state.retainedBytes()),
        known(state.mappedBytes()),
        known(state.releasableBytes()),
        known(state.residentBytes()),
        Double.NaN,
        state.trims(),
        arenas(),
        List.of(),
        costSeconds);
  }

  private static AllocatorKind kind(int number) {
    return switch (number) {
      case Abi.ALLOCATOR_GLIBC -> AllocatorKind.GLIBC;
      case Abi.ALLOCATOR_JEMALLOC -> AllocatorKind.JEMALLOC;
      case Abi.ALLOCATOR_TCMALLOC -> AllocatorKind.TCMALLOC;
      case Abi.ALLOCATOR_MIMALLOC -> AllocatorKind.MIMALLOC;
      default -> AllocatorKind.UNKNOWN;
    };
  }

  private List<AllocatorStatistics.Arena> arenas() {
    List<AllocatorStatistics.Arena> read = new ArrayList<>(state.rows());
    for (int i = 0; i < state.rows(); i++) {
      Abi.Arena row = Abi.Arena.row(arenas, i);
      read.add(
          new AllocatorStatistics.Arena(
              row.number(),
              row.systemBytes(),
              row.systemBytes() - row.retainedBytes(),
              row.retainedBytes(),
              row.releasableBytes(),
              row.topBytes()));
    }
    return read;
  }

  private static double known(long value) {
    return value == Abi.UNKNOWN ? Double.NaN : value;
  }
}
