package io.mallometer.internal.interposer;

import io.mallometer.model.CallSites;
import io.mallometer.model.Estimate;
import io.mallometer.model.Owner;
import io.mallometer.model.RetainedSite;
import io.mallometer.model.ScopeFigures;
import java.nio.ByteBuffer;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The scopes that the library measures. All are read into one buffer, so that a scope mallocs
 * nothing; to wait for it takes less than to allocate another.
 */
final class LibraryScopes {

  /** EAGAIN and ENOMEM as the library returns them. */
  private static final int TOO_MANY = -11;

  private static final int NO_MEMORY = -12;

  private static final int MOST_OBJECTS = 16_384;

  private final Supplier<CallSites> callSites;
  private final ByteBuffer figures = Structs.keep(ScopeLayout.BYTES);
  private final long address = Structs.address(figures);

  /** Scopes whose call sites are those that the supplier reads. */
  LibraryScopes(Supplier<CallSites> callSites) {
    this.callSites = callSites;
  }

  /**
   * Opens a scope.
   *
   * @param options of mallometer_scope_open
   * @param status the reason why nothing is counted
   */
  OpenScope open(int options, Supplier<String> status) {
    int number = LibraryFunctions.mallometer_scope_open(options);
    if (number > 0) {
      return new LibraryScope(number);
    }
    return switch (number) {
      case TOO_MANY ->
          OpenScope.none(
              "4,096 scopes of threads or 32 scopes of the process are open: close some of them");
      case NO_MEMORY -> OpenScope.none("no memory for the scope's table");
      default -> OpenScope.none(status.get());
    };
  }

  private ScopeFigures read(int number, boolean closes) {
    synchronized (figures) {
      figures.putInt(ScopeLayout.SIZE, ScopeLayout.BYTES);
      int result =
          closes
              ? LibraryFunctions.mallometer_scope_close(number, address)
              : LibraryFunctions.mallometer_scope_read(number, address);
      return result == 0
          ? ScopeLayout.figures(figures)
          : ScopeFigures.none(
              "the scope's thread ended long ago, and the library needed the room for others");
    }
  }

  /** Names the sites after the objects were copied: that allocates itself. */
  private List<RetainedSite> retained(int number) {
    ByteBuffer objects = Structs.allocate(MOST_OBJECTS * SiteLayout.OBJECT_BYTES);
    int count =
        LibraryFunctions.mallometer_scope_objects(
            number, Structs.address(objects), SiteLayout.OBJECT_BYTES, MOST_OBJECTS);
    Map<Integer, Estimate> bySite = new HashMap<>();
    for (int i = 0; i < count; i++) {
      int offset = i * SiteLayout.OBJECT_BYTES;
      double bytes = objects.getLong(offset + SiteLayout.OBJECT_SIZE);
      double weight = 1 / objects.getDouble(offset + SiteLayout.OBJECT_PROBABILITY);
      bySite.merge(
          objects.getInt(offset + SiteLayout.OBJECT_SITE),
          new Estimate(weight * bytes, weight * (weight - 1) * bytes * bytes, 1),
          Estimate::plus);
    }
    if (bySite.isEmpty()) {
      return List.of();
    }
    CallSites named = callSites.get();
    return bySite.entrySet().stream()
        .flatMap(
            entry ->
                named.site(entry.getKey()).stream()
                    .filter(site -> site.owner() != Owner.MALLOMETER)
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
