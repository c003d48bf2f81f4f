package io.mallometer.benchmarks.owner.kernels;

import io.mallometer.benchmarks.owner.Kernel;
import io.mallometer.model.OwnerReport.Holding;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Arenas of the foreign-function interface, one per request, that are never closed. Uses
 * reflection, as this is compiled for JDK 17.
 */
public final class ForeignArenas implements Kernel {

  private static final Map<String, Object> SEGMENTS = new ConcurrentHashMap<>();

  @Override
  public Holding holding() {
    return Holding.KEPT;
  }

  @Override
  public List<String> words() {
    return List.of("static ForeignArenas.SEGMENTS");
  }

  @Override
  public void plant() throws ReflectiveOperationException {
    Class<?> arenas = Class.forName("java.lang.foreign.Arena");
    for (int i = 0; i < 150; i++) {
      Object arena = arenas.getMethod("ofShared").invoke(null);
      SEGMENTS.put(
          "request-" + i,
          arenas.getMethod("allocate", long.class, long.class).invoke(arena, 40_000L, 8L));
    }
  }
}
