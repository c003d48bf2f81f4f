package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.FakeMallometer;
import io.mallometer.Mallometer;
import io.mallometer.NativeScope;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.SizeDistribution;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import io.mallometer.spring.NativeScopeMeters.Gap;
import io.mallometer.spring.NativeScopeMeters.Scope;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.http.server.observation.ServerRequestObservationContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.scheduling.support.ScheduledTaskObservationContext;
import org.springframework.util.ReflectionUtils;

class NativeScopeTest {

  private static final Scope ROUTE = new Scope("", "/orders/{id}", "GET");

  private final FakeMallometer mallometer = new FakeMallometer();
  private final MeterRegistry registry = new SimpleMeterRegistry();
  private final NativeScopeMeters meters = new NativeScopeMeters(mallometer, registry, 2);

  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  MallometerAutoConfiguration.class,
                  MallometerMetricsAutoConfiguration.class,
                  MallometerScopesAutoConfiguration.class))
          .withBean("mallometer", Mallometer.class, () -> mallometer)
          .withBean(SimpleMeterRegistry.class);

  private void allocated(long allocated, long freed) {
    mallometer.setCounters(counters(allocated, freed));
  }

  private static NativeCounters counters(long allocated, long freed) {
    return new NativeCounters(
        SizeDistribution.of(new long[SizeDistribution.CLASSES]),
        0,
        0,
        allocated,
        allocated,
        freed,
        0,
        0,
        0,
        0,
        1,
        true);
  }

  private double count(Scope scope) {
    return registry
        .get("native.scope.allocated")
        .tags("scope", scope.scope(), "uri", scope.uri(), "method", scope.method())
        .summary()
        .count();
  }

  private double sum(Scope scope) {
    return registry
        .get("native.scope.allocated")
        .tags("scope", scope.scope(), "uri", scope.uri(), "method", scope.method())
        .summary()
        .totalAmount();
  }

  private double net(Scope scope) {
    return registry
        .get("native.scope.net")
        .tags("scope", scope.scope(), "uri", scope.uri(), "method", scope.method())
        .gauge()
        .value();
  }

  private double unknown(Gap gap) {
    return registry.get("native.scope.unknown").tag("reason", gap.tag()).counter().count();
  }

  private ObservationRegistry observations() {
    ObservationRegistry observations = ObservationRegistry.create();
    observations.observationConfig().observationHandler(new NativeScopeObservationHandler(meters));
    return observations;
  }

  private static Observation.Context request() {
    return new ServerRequestObservationContext(
        new MockHttpServletRequest(), new MockHttpServletResponse());
  }

  private static Observation.Context task() {
    return new ScheduledTaskObservationContext(
        "any", ReflectionUtils.findMethod(String.class, "strip"));
  }

  @Test
  void aRouteIsTheSumOfThePiecesThatThreadsWorkedOn() {
    ObservationRegistry observations = observations();
    allocated(1_000, 0);
    Observation request = startedRequest(observations);
    allocated(5_000, 0);
    request.scoped(
        () -> {
          allocated(5_100, 0);
          request.scoped(() -> allocated(5_300, 250));
        });
    allocated(9_000, 0);
    request.scoped(() -> allocated(9_020, 0));
    Observation.createNotStarted("http.client.requests", observations).observe(() -> {});
    request.stop();

    assertThat(count(ROUTE)).isEqualTo(1);
    assertThat(sum(ROUTE)).isEqualTo(320);
    assertThat(net(ROUTE)).isEqualTo(70);
    assertThat(registry.find("native.scope.allocated").summaries()).hasSize(1);
  }

  private static Observation startedRequest(ObservationRegistry observations) {
    return Observation.createNotStarted(
            "http.server.requests", NativeScopeTest::request, observations)
        .lowCardinalityKeyValue("uri", "/orders/{id}")
        .lowCardinalityKeyValue("method", "GET")
        .start();
  }

  /**
   * The two threads read the same fake counters. Bytes that are allocated while both scopes are
   * open therefore count twice.
   */
  @Test
  @Timeout(120)
  void threadsThatWorkAtTheSameTimeHaveAPieceEach() throws Exception {
    Observation request = startedRequest(observations());
    CountDownLatch opened = new CountDownLatch(1);
    CountDownLatch firstClosed = new CountDownLatch(1);
    FutureTask<Void> second =
        new FutureTask<>(
            () -> {
              allocated(100, 0);
              Observation.Scope scope = request.openScope();
              opened.countDown();
              firstClosed.await();
              allocated(1_000, 0);
              scope.close();
              return null;
            });
    allocated(0, 0);
    Observation.Scope first = request.openScope();
    new Thread(second).start();
    opened.await();
    allocated(300, 0);
    first.close();
    firstClosed.countDown();
    second.get();
    allocated(50_000, 0);
    request.stop();

    assertThat(sum(ROUTE)).isEqualTo(300 + 900);
    assertThat(count(ROUTE)).isEqualTo(1);
  }

  @Test
  void aScopeThatIsReplacedOrTakenFromItsThreadEndsThere() {
    Observation request = startedRequest(observations());
    allocated(0, 0);
    Observation.Scope scope = request.openScope();
    allocated(100, 0);
    scope.makeCurrent();
    allocated(150, 0);
    scope.close();
    allocated(9_000, 0);
    Observation.Scope taken = request.openScope();
    allocated(9_020, 0);
    taken.reset();
    allocated(20_000, 0);
    taken.close();
    request.stop();

    assertThat(sum(ROUTE)).isEqualTo(100 + 50 + 20);
  }

  @Test
  void aRequestThatStopsBeforeItsLastScopeHasWhatItDidUntilThen() {
    Observation request = startedRequest(observations());
    allocated(0, 0);
    Observation.Scope scope = request.openScope();
    allocated(500, 100);
    request.stop();
    allocated(9_000, 100);
    scope.close();
    request.openScope().close();

    assertThat(sum(ROUTE)).isEqualTo(500);
    assertThat(net(ROUTE)).isEqualTo(400);
    assertThat(count(ROUTE)).isEqualTo(1);
  }

  @Test
  void aScheduledTaskHasTheNameOfItsMethod() {
    ObservationRegistry observations = observations();
    allocated(0, 0);
    Observation.createNotStarted("tasks.scheduled.execution", NativeScopeTest::task, observations)
        .lowCardinalityKeyValue("code.namespace", "io.example.Cleanup")
        .lowCardinalityKeyValue("code.function", "run")
        .observe(() -> allocated(64, 128));

    assertThat(sum(Scope.named("io.example.Cleanup.run"))).isEqualTo(64);
    assertThat(net(Scope.named("io.example.Cleanup.run"))).isEqualTo(-64);
  }

  @Test
  void scopesBeyondTheLimitShareOneName() {
    for (int i = 0; i < 100; i++) {
      meters.add(Scope.named("s" + i % 10), 10, 1);
    }

    assertThat(registry.find("native.scope.allocated").summaries()).hasSize(3);
    assertThat(sum(Scope.named("s0"))).isEqualTo(100);
    assertThat(sum(Scope.named("s1"))).isEqualTo(100);
    assertThat(sum(Scope.named(NativeScopeMeters.OTHER))).isEqualTo(800);
    assertThat(net(Scope.named(NativeScopeMeters.OTHER))).isEqualTo(80);
  }

  @Test
  @Timeout(120)
  void scopesBeyondTheLimitDoNotWaitForEachOther() throws Exception {
    for (String name : new String[] {"first", "second", "third"}) {
      meters.add(Scope.named(name), 10, 1);
    }
    FutureTask<Void> call = new FutureTask<>(() -> meters.add(Scope.named("fourth"), 10, 1), null);
    // A thread holds this lock while it registers a meter. A call that uses existing meters must
    // not wait for the lock.
    synchronized (meters) {
      new Thread(call).start();
      call.get();
    }

    assertThat(sum(Scope.named(NativeScopeMeters.OTHER))).isEqualTo(20);
  }

  @Test
  void whatIsNotCountedIsNeverZero() {
    mallometer.setStatus(new Status(State.UNAVAILABLE, "no library", ""));
    meters.end(ROUTE, meters.begin());

    assertThat(registry.find("native.scope.allocated").summaries()).isEmpty();
    assertThat(unknown(Gap.NOT_COUNTED)).isEqualTo(1);
  }

  @Test
  void aRequestThatNoThreadIsBoundToIsUnknown() {
    ObservationRegistry observations = observations();
    Observation.start("http.server.requests", NativeScopeTest::request, observations).stop();

    assertThat(unknown(Gap.NO_THREAD)).isEqualTo(1);
  }

  /**
   * The registry refuses the meters. An application causes such a refusal if, for example, it has a
   * meter of the same name with other tags.
   */
  @Test
  void aRegistryThatRefusesTheMetersDoesNotFailTheCallAndIsLeftAlone() {
    AtomicInteger asked = new AtomicInteger();
    registry
        .config()
        .meterFilter(
            new MeterFilter() {
              @Override
              public Meter.Id map(Meter.Id id) {
                asked.incrementAndGet();
                throw new IllegalArgumentException("refused");
              }
            });
    for (int i = 0; i < 3; i++) {
      meters.add(ROUTE, 1, 1);
      meters.miss(ROUTE, Gap.NO_THREAD);
    }

    assertThat(registry.getMeters()).isEmpty();
    assertThat(asked).as("attempts: one for scopes, one for unknown figures").hasValue(2);
  }

  @Test
  @EnabledForJreRange(min = JRE.JAVA_21)
  void aVirtualThreadSaysWhyItIsEmpty() throws Exception {
    allocated(1_000, 0);
    FutureTask<Void> task =
        new FutureTask<>(
            () -> {
              NativeScope open = meters.begin();
              allocated(2_000, 0);
              meters.end(ROUTE, open);
            },
            null);
    Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
    task.get();

    assertThat(registry.find("native.scope.allocated").summaries()).isEmpty();
    assertThat(unknown(Gap.VIRTUAL_THREAD)).isEqualTo(1);
  }

  static class Thumbnails {
    private final FakeMallometer mallometer;

    Thumbnails(FakeMallometer mallometer) {
      this.mallometer = mallometer;
    }

    @NativeScoped("thumbnail")
    int draw(boolean fails) {
      mallometer.setCounters(counters(500, 0));
      if (fails) {
        throw new IllegalStateException("as asked");
      }
      return 7;
    }
  }

  static final class FinalThumbnails {
    @NativeScoped("final")
    int draw() {
      return 7;
    }
  }

  @Test
  void annotatedMethodsAreMeasuredAlsoWhenTheyFail() {
    allocated(100, 0);
    application
        .withPropertyValues("mallometer.scopes.enabled=on")
        .withBean(Thumbnails.class, () -> new Thumbnails(mallometer))
        .run(
            context -> {
              Thumbnails thumbnails = context.getBean(Thumbnails.class);
              assertThat(thumbnails.draw(false)).isEqualTo(7);
              allocated(400, 0);
              try {
                thumbnails.draw(true);
              } catch (IllegalStateException expected) {
                assertThat(expected).hasMessage("as asked");
              }

              assertThat(
                      context
                          .getBean(MeterRegistry.class)
                          .get("native.scope.allocated")
                          .tag("scope", "thumbnail")
                          .summary()
                          .totalAmount())
                  .isEqualTo(500);
            });
  }

  @Test
  void theMetersOfAnnotatedMethodsAreLookedUpOnce() {
    AtomicInteger lookUps = new AtomicInteger();
    for (NativeScopeMeters found : Arrays.asList(meters, null)) {
      lookUps.set(0);
      NativeScopePostProcessor processor =
          new NativeScopePostProcessor(
              () -> {
                lookUps.incrementAndGet();
                return found;
              });
      Thumbnails thumbnails =
          (Thumbnails)
              processor.postProcessAfterInitialization(new Thumbnails(mallometer), "thumbnails");
      assertThat(lookUps).hasValue(0);
      thumbnails.draw(false);
      thumbnails.draw(false);

      assertThat(lookUps).hasValue(1);
    }
    assertThat(count(Scope.named("thumbnail"))).isEqualTo(2);
  }

  @Test
  void classesThatCannotBeExtendedDoNotStopTheStart() {
    allocated(0, 0);
    application
        .withPropertyValues("mallometer.scopes.enabled=true")
        .withBean(FinalThumbnails.class)
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              assertThat(context.getBean(FinalThumbnails.class).draw()).isEqualTo(7);
            });
  }

  @Test
  void nothingIsThereByDefaultOrWithoutWhatItNeeds() {
    application.run(
        context ->
            assertThat(context)
                .hasNotFailed()
                .doesNotHaveBean(NativeScopeMeters.class)
                .doesNotHaveBean(NativeScopeObservationHandler.class)
                .doesNotHaveBean(NativeScopePostProcessor.class));
    ApplicationContextRunner enabled =
        application.withPropertyValues("mallometer.scopes.enabled=true");
    enabled.run(
        context ->
            assertThat(context)
                .hasSingleBean(NativeScopeMeters.class)
                .hasSingleBean(NativeScopeObservationHandler.class)
                .hasSingleBean(NativeScopePostProcessor.class));
    for (String missing : new String[] {"io.micrometer.core", "io.micrometer.observation"}) {
      enabled
          .withClassLoader(new FilteredClassLoader(missing))
          .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("nativeScopeMeters"));
    }
    enabled
        .withPropertyValues("mallometer.enabled=false")
        .run(context -> assertThat(context).hasNotFailed());
    new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                MallometerAutoConfiguration.class, MallometerScopesAutoConfiguration.class))
        .withPropertyValues("mallometer.scopes.enabled=true")
        .run(
            context -> assertThat(context).hasNotFailed().doesNotHaveBean(NativeScopeMeters.class));
  }

  @Test
  void aLimitThatMakesNoSenseStopsTheStart() {
    application
        .withPropertyValues("mallometer.scopes.enabled=true", "mallometer.max-scopes=0")
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining("max-scopes is \"0\" and must be from 1 to 80"));
  }
}
