package io.mallometer.internal.library.abi;

import io.mallometer.internal.library.OpenScope;
import io.mallometer.model.CallSites;
import io.mallometer.model.CodeOwner;
import io.mallometer.model.Estimate;
import io.mallometer.model.RetainedSite;
import io.mallometer.model.ScopeCounts;
import io.mallometer.model.ScopeFigures;
import io.mallometer.model.ScopeMatches;
import io.mallometer.model.SizeDistribution;
import java.nio.ByteBuffer;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The scopes (measured stretches of execution) of the library. All are read into one buffer, so
 * that reading a scope allocates no native memory.
 */
final class LibraryScopes {

  private static final int MOST_OBJECTS = 16_384;

  private static final String WAS_OFF =
      "counting was off for some time within the scope, so net bytes, peak and matches are unknown";

  private static final String OVERFLOW =
      "there are no matches: more than 49,152 objects of the scope were live at once, or a signal"
          + " handler allocated";

  private final Supplier<CallSites> callSites;
  private final Abi.Scope figures = new Abi.Scope(Structs.keep(Abi.Scope.BYTES));
  private final long address = Structs.address(figures.memory());

  LibraryScopes(Supplier<CallSites> callSites) {
    this.callSites = callSites;
  }

  OpenScope open(int options, Supplier<String> status) {
    int number = LibraryFunctions.mallometer_scope_open(options);
    if (number > 0) {
      return new LibraryScope(number);
    }
    return switch (number) {
      case Errno.EAGAIN ->
          OpenScope.none(
              "4,096 scopes of threads or 32 scopes of the process are open: close some of them");
      case Errno.ENOMEM -> OpenScope.none("no memory for the scope's table");
      default -> OpenScope.none(status.get());
    };
  }

  private ScopeFigures read(int number, boolean closes) {
    synchronized (figures) {
      int result =
          closes
              ? LibraryFunctions.mallometer_scope_close(number, address)
              : LibraryFunctions.mallometer_scope_read(number, address);
      return result == 0
          ? figures()
          : ScopeFigures.none(
              "the scope's thread ended long ago, and the library needed the room for others");
    }
  }

  private ScopeFigures figures() {
    int flags = figures.flags();
    boolean complete = (flags & Abi.SCOPE_INCOMPLETE) == 0;
    boolean matched = complete && (flags & Abi.SCOPE_HAS_MATCHES) != 0;
    boolean overflowed = (flags & Abi.SCOPE_OVERFLOWED) != 0;
    return new ScopeFigures(
        Optional.of(counts(complete)),
        matched ? Optional.of(matches()) : Optional.empty(),
        !complete ? WAS_OFF : overflowed ? OVERFLOW : "");
  }

  private ScopeCounts counts(boolean complete) {
    return new ScopeCounts(
        SizeDistribution.of(figures::allocations),
        figures.frees(),
        figures.failed(),
        figures.requestedBytes(),
        figures.allocatedBytes(),
        figures.freedBytes(),
        complete ? figures.netBytes() : Double.NaN,
        complete ? figures.peakBytes() : Double.NaN,
        complete ? figures.peakErrorBytes() : Double.NaN,
        figures.largestBytes(),
        figures.largestErrorBytes());
  }

  private ScopeMatches matches() {
    return new ScopeMatches(
        figures.temporaryAllocations(),
        figures.temporaryBytes(),
        figures.retainedAllocations(),
        figures.retainedBytes(),
        figures.foreignFrees(),
        figures.foreignFreedBytes());
  }

  private static Map<Integer, Estimate> bySite(int number, ByteBuffer objects) {
    int count =
        LibraryFunctions.mallometer_scope_objects(number, Structs.address(objects), MOST_OBJECTS);
    Map<Integer, Estimate> bySite = new HashMap<>();
    for (int i = 0; i < count; i++) {
      Abi.Object object = Abi.Object.row(objects, i);
      double bytes = object.bytes();
      double weight = 1 / object.probability();
      bySite.merge(
          object.site(),
          new Estimate(weight * bytes, weight * (weight - 1) * bytes * bytes, 1),
          Estimate::plus);
    }
    return bySite;
  }

  /**
   * Reads the retained objects before it names their call sites, because naming allocates memory.
   */
  private List<RetainedSite> retained(int number) {
    Map<Integer, Estimate> bySite =
        Structs.with(MOST_OBJECTS * Abi.Object.BYTES, objects -> bySite(number, objects));
    if (bySite.isEmpty()) {
      return List.of();
    }
    CallSites named = callSites.get();
    return bySite.entrySet().stream()
        .flatMap(
            entry ->
                named.site(entry.getKey()).stream()
                    .filter(site -> site.codeOwner() != CodeOwner.MALLOMETER)
                    .map(site -> new RetainedSite(site, entry.getValue())))
        .sorted(Comparator.comparingDouble((RetainedSite one) -> one.bytes().value()).reversed())
        .toList();
  }

  private final class LibraryScope implements OpenScope {
    private final int number;

    LibraryScope(int number) {
      this.number = number;
    }

    @Override
    public ScopeFigures read() {
      return LibraryScopes.this.read(number, false);
    }

    @Override
    public List<RetainedSite> retained() {
      return LibraryScopes.this.retained(number);
    }

    @Override
    public ScopeFigures close() {
      return LibraryScopes.this.read(number, true);
    }
  }
}
