package io.mallometer.benchmarks.owner.kernels;

import io.mallometer.benchmarks.owner.Kernel;
import io.mallometer.model.OwnerReport.Holding;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Requests whose replies never come. A table refers to a future, and the future to the action that
 * would close the request's arena. The segment and its arena both have the address, and the action
 * refers to both. Uses the foreign memory of JDK 22 by reflection, as this is compiled for 17.
 */
public final class NeverCompleted implements Kernel {

  private static final Map<Long, CompletableFuture<String>> AWAITED = new ConcurrentHashMap<>();

  @Override
  public Holding holding() {
    return Holding.KEPT;
  }

  @Override
  public List<String> words() {
    return List.of("CompletableFuture", "static NeverCompleted.AWAITED");
  }

  @Override
  public void plant() throws ReflectiveOperationException {
    if (Runtime.version().feature() < 22) {
      throw new UnsupportedOperationException("no foreign memory before JDK 22");
    }
    Class<?> arenas = Class.forName("java.lang.foreign.Arena");
    Method shared = arenas.getMethod("ofShared");
    Method allocate = arenas.getMethod("allocate", long.class, long.class);
    for (long i = 0; i < 200; i++) {
      AutoCloseable arena = (AutoCloseable) shared.invoke(null);
      Object segment = allocate.invoke(arena, 30_000L, 8L);
      CompletableFuture<String> reply = new CompletableFuture<>();
      reply.thenAccept(text -> finish(text, segment, arena));
      AWAITED.put(i, reply);
    }
  }

  private static void finish(String text, Object segment, AutoCloseable arena) {
    try {
      System.out.println(text + " for " + segment);
      arena.close();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
