package io.mallometer.spring;

import io.mallometer.Mallometer;
import io.mallometer.NativeScope;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Locale;
import org.springframework.http.server.observation.ServerRequestObservationContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

/**
 * Prints the CPU time that {@link NativeScopeObservationHandler} adds to a request, in the thread
 * of the request. This is not a test.
 *
 * <pre>
 * mvn -q -pl spring-starter -am -DskipTests -Dnative.tests.skip=true install
 * mvn -q -pl spring-starter dependency:build-classpath -Dmdep.includeScope=test
 * -Dmdep.outputFile=/tmp/class-path
 * LD_PRELOAD=$PWD/interposer/target/native/linux-x86-64/libmallometer.so java -cp \
 *   spring-starter/target/classes:spring-starter/target/test-classes:$(cat /tmp/class-path) \
 *   io.mallometer.spring.NativeScopeCost
 * </pre>
 *
 * <p>The last line of the output is a lower bound: it simulates counters that Java could read
 * directly from memory, which the library does not offer.
 */
final class NativeScopeCost {

  private static final int ROUNDS = 7;
  private static final int REQUESTS = 200_000;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private static final ThreadLocal<ByteBuffer> BLOCK =
      ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(64).order(ByteOrder.nativeOrder()));

  private NativeScopeCost() {}

  public static void main(String[] arguments) {
    try (Mallometer mallometer = Mallometer.open()) {
      NativeScopeMeters meters = new NativeScopeMeters(mallometer, new SimpleMeterRegistry(), 7);
      ObservationRegistry with = ObservationRegistry.create();
      with.observationConfig().observationHandler(new NativeScopeObservationHandler(meters));
      ObservationRegistry without = ObservationRegistry.create();
      without.observationConfig().observationHandler(context -> true);
      NativeScopeMeters.Scope route = new NativeScopeMeters.Scope("", "/orders/{id}", "GET");

      print("an observation without the handler", () -> observe(without));
      print("the same with the handler", () -> observe(with));
      print("a scope over the thread", () -> read(mallometer));
      print("a method with @NativeScoped", () -> meters.end(route, meters.begin()));
      print("two readings through a mapped buffer, and the meters", () -> mapped(meters, route));
    }
  }

  private static void observe(ObservationRegistry registry) {
    Observation.createNotStarted(
            "http.server.requests",
            () -> new ServerRequestObservationContext(Requests.REQUEST, Requests.RESPONSE),
            registry)
        .lowCardinalityKeyValue("uri", "/orders/{id}")
        .lowCardinalityKeyValue("method", "GET")
        .observe(() -> {});
  }

  private static void read(Mallometer mallometer) {
    NativeScope open = mallometer.counting().threadScope();
    if (NativeScopeMeters.ended(open).isEmpty()) {
      throw new IllegalStateException("not counted; preload the library");
    }
  }

  private static void mapped(NativeScopeMeters meters, NativeScopeMeters.Scope route) {
    ByteBuffer block = BLOCK.get();
    long allocated = block.getLong(0);
    long freed = block.getLong(8);
    block = BLOCK.get();
    allocated = block.getLong(0) - allocated;
    meters.add(route, allocated, allocated - (block.getLong(8) - freed));
  }

  private static void print(String what, Runnable request) {
    double best = Double.MAX_VALUE;
    for (int round = 0; round < ROUNDS; round++) {
      long start = THREADS.getCurrentThreadCpuTime();
      for (int i = 0; i < REQUESTS; i++) {
        request.run();
      }
      best = Math.min(best, (THREADS.getCurrentThreadCpuTime() - start) / (double) REQUESTS);
    }
    System.out.printf(Locale.ROOT, "%8.0f ns  %s%n", best, what);
  }

  /** Holds objects that are created once, because their creation must not be measured. */
  private static final class Requests {
    static final MockHttpServletRequest REQUEST = new MockHttpServletRequest();
    static final MockHttpServletResponse RESPONSE = new MockHttpServletResponse();

    private Requests() {}
  }
}
