package io.mallometer.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.mallometer.FaceContract;
import io.mallometer.FakeMallometer;
import io.mallometer.Logged;
import io.mallometer.meter.Meter;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import io.micrometer.core.instrument.Meter.Id;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class NativeMemoryMetricsTest {

  private static final int SERIES = 25;

  @AutoClose
  private final FakeMallometer mallometer =
      new FakeMallometer(FaceContract.counters(true, Double.NaN), FaceContract.selfReport());

  private final NativeMemoryMetrics metrics = new NativeMemoryMetrics(mallometer);

  @Test
  void oneBinderServesTwoRegistriesAndLeavesBoth() {
    MeterRegistry first = new SimpleMeterRegistry();
    MeterRegistry second = new SimpleMeterRegistry();
    metrics.bindTo(first);
    metrics.bindTo(second);
    assertThat(first.getMeters()).hasSize(SERIES);
    assertThat(second.getMeters()).hasSize(SERIES);

    metrics.close();
    assertThat(first.getMeters()).isEmpty();
    assertThat(second.getMeters()).isEmpty();
  }

  @Test
  void bindingTwiceToOneRegistryMakesNoDuplicates() {
    MeterRegistry registry = new SimpleMeterRegistry();
    metrics.bindTo(registry);
    metrics.bindTo(registry);

    assertThat(registry.getMeters()).hasSize(SERIES);
  }

  @Test
  void whenOneOfTwoBindersIsClosedTheOthersMetersAreBackWithTheNextPoll() {
    MeterRegistry shared = new SimpleMeterRegistry();
    NativeMemoryMetrics other = new NativeMemoryMetrics(mallometer);
    metrics.bindTo(shared);
    other.bindTo(shared);
    assertThat(shared.getMeters()).hasSize(SERIES);

    metrics.close();
    mallometer.poll();
    assertThat(shared.getMeters()).hasSize(SERIES);
    assertThat(shared.get("native.malloc.frees").functionCounter().count()).isEqualTo(12);

    other.close();
    mallometer.poll();
    assertThat(shared.getMeters()).isEmpty();
  }

  @Test
  void aRegistryThatComesLateGetsEverything() {
    CompositeMeterRegistry composite = new CompositeMeterRegistry();
    metrics.bindTo(composite);
    mallometer.poll();
    MeterRegistry late = new SimpleMeterRegistry();
    composite.add(late);

    assertThat(late.getMeters()).hasSize(SERIES);
    assertThat(late.get("native.malloc.frees").functionCounter().count()).isEqualTo(12);

    metrics.close();
    assertThat(late.getMeters()).isEmpty();
  }

  @Test
  void aRegistryThatThrowsIsLoggedOnceAndDisturbsNoOther() {
    try (Logged logged = new Logged(NativeMemoryMetrics.class.getName())) {
      List<MeterRegistry> sound = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        MeterRegistry broken = new SimpleMeterRegistry();
        broken.config().meterFilter(throwing("native.malloc.live"));
        metrics.bindTo(broken);
        sound.add(new SimpleMeterRegistry());
        metrics.bindTo(sound.get(i));
      }
      assertThat(sound).allMatch(registry -> registry.getMeters().size() == SERIES);

      mallometer.setStatus(new Status(State.DISABLED, "switched off", "switch it on"));
      mallometer.poll();
      mallometer.setStatus(Status.counting());
      mallometer.poll();
      mallometer.poll();

      assertThat(sound).allMatch(registry -> registry.getMeters().size() == SERIES);
      assertThat(logged.messages())
          .hasSize(4)
          .allMatch(message -> message.startsWith("Some meters of native memory are missing in "));
    }
  }

  /**
   * A poll compares the series with the registered ones, which allocates little. A poll that
   * registered the series again would exceed the bounds.
   */
  @Test
  void aPollThatChangesNothingLeavesRegistriesAlone() {
    long bare = bytesOfAPoll();
    metrics.bindTo(new SimpleMeterRegistry());
    long oneRegistry = bytesOfAPoll();
    metrics.bindTo(new SimpleMeterRegistry());
    long twoRegistries = bytesOfAPoll();

    assertThat(oneRegistry - bare).isLessThan(1_000);
    assertThat(twoRegistries - oneRegistry).isLessThan(100);
  }

  private long bytesOfAPoll() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long self = Thread.currentThread().getId();
    int polls = 2_000;
    long before = threads.getThreadAllocatedBytes(self);
    for (int i = 0; i < polls; i++) {
      mallometer.poll();
    }
    return (threads.getThreadAllocatedBytes(self) - before) / polls;
  }

  @Test
  void facadeAndBinderMayBeClosedInAnyOrder() {
    MeterRegistry registry = new SimpleMeterRegistry();
    metrics.bindTo(registry);
    mallometer.close();
    mallometer.advance(Duration.ofMinutes(2));

    assertThat(registry.get("mallometer.snapshot.age").gauge().value()).isEqualTo(120);

    metrics.close();
    assertThat(registry.getMeters()).isEmpty();
  }

  @Test
  void aClosedBinderBindsNothing() {
    MeterRegistry registry = new SimpleMeterRegistry();
    metrics.close();
    metrics.bindTo(registry);

    assertThat(registry.getMeters()).isEmpty();
  }

  @Test
  void aNewContextBindsWhereTheOldOneWasClosed() {
    MeterRegistry registry = new SimpleMeterRegistry();
    metrics.bindTo(registry);
    metrics.close();
    new NativeMemoryMetrics(mallometer).bindTo(registry);

    assertThat(registry.getMeters()).hasSize(SERIES);
  }

  @Test
  void metersLiveOnWhenTheApplicationForgetsTheBinder() throws Exception {
    MeterRegistry registry = new SimpleMeterRegistry();
    WeakReference<Object> witness = bindAndForget(registry);
    for (int i = 0; i < 100 && witness.get() != null; i++) {
      System.gc();
    }

    assertThat(witness.get()).isNull();
    assertThat(registry.get("native.malloc.frees").functionCounter().count()).isEqualTo(12);
    assertThat(registry.get("native.malloc.live").gauge().value()).isEqualTo(600_000);
  }

  /**
   * Binds metrics to which nothing else refers, and returns a weak reference that is cleared when
   * garbage has been collected.
   */
  private static WeakReference<Object> bindAndForget(MeterRegistry registry) {
    FakeMallometer counting =
        new FakeMallometer(FaceContract.counters(true, Double.NaN), FaceContract.selfReport());
    new NativeMemoryMetrics(counting).bindTo(registry);
    return new WeakReference<>(new Object());
  }

  @Test
  void ownTagsAreOnEveryMeter() {
    MeterRegistry registry = new SimpleMeterRegistry();
    new NativeMemoryMetrics(mallometer, Tags.of("pod", "a")).bindTo(registry);

    assertThat(registry.getMeters()).allMatch(meter -> "a".equals(meter.getId().getTag("pod")));
  }

  @Test
  void theHistogramFollowsCommonTagsAndRenaming() {
    MeterRegistry registry = new SimpleMeterRegistry();
    registry.config().commonTags("application", "shop").meterFilter(renaming());

    Id id = metrics.requestSizeId(registry).orElseThrow();

    assertThat(id.getName()).isEqualTo("my." + Meter.REQUEST_SIZE);
    assertThat(id.getTags()).containsExactly(Tag.of("application", "shop"));
    assertThat(registry.getMeters()).isEmpty();
  }

  @Test
  void theHistogramMayBeDenied() {
    MeterRegistry registry = new SimpleMeterRegistry();
    registry.config().meterFilter(MeterFilter.denyNameStartsWith("native."));

    assertThat(metrics.requestSizeId(registry)).isEqualTo(Optional.empty());
  }

  private static MeterFilter throwing(String name) {
    return new MeterFilter() {
      @Override
      public Id map(Id id) {
        if (id.getName().equals(name)) {
          throw new IllegalStateException("broken filter");
        }
        return id;
      }
    };
  }

  private static MeterFilter renaming() {
    return new MeterFilter() {
      @Override
      public Id map(Id id) {
        return id.withName("my." + id.getName());
      }
    };
  }
}
