package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.FaceContract;
import io.mallometer.FakeMallometer;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.context.ConfigurableApplicationContext;

@Tag("context")
@Tag("any-jdk")
class OtlpTest {

  @Test
  void everyMeterIsPushedUnderItsNameAndOthersNamesAreNotTaken() throws Exception {
    try (OtlpReceiver receiver = new OtlpReceiver();
        FakeMallometer mallometer =
            new FakeMallometer(FaceContract.counters(true, 32_768), FaceContract.selfReport())) {
      mallometer.setMemory(FaceContract.memory(1_073_741_824));
      mallometer.setAllocator(FaceContract.allocator(7_000));
      mallometer.poll();
      OtlpReceiver.Push push;
      try (ConfigurableApplicationContext context =
          Contexts.with(mallometer)
              .run(
                  "--management.otlp.metrics.export.enabled=true",
                  "--management.otlp.metrics.export.step=1s",
                  "--management.otlp.metrics.export.url=" + receiver.url(),
                  "--spring.application.name=shop")) {
        assertThat(context.isActive()).isTrue();
        push = receiver.next();
      }

      List<Metric> ours =
          push.metrics().stream()
              .filter(metric -> metric.getName().matches("(native|cgroup|mallometer)\\..*"))
              .toList();
      Map<String, Metric> byName =
          ours.stream().collect(Collectors.toMap(Metric::getName, metric -> metric, (a, b) -> a));
      assertThat(byName)
          .containsKeys("native.malloc.live", "native.memory.resident", "mallometer.active");
      Metric live = byName.get("native.malloc.live");
      assertThat(live.getUnit()).isEqualTo("bytes");
      assertThat(live.getGauge().getDataPoints(0).getAsDouble())
          .isEqualTo(mallometer.snapshot().process().orElseThrow().liveBytes());
      assertThat(byName.get("native.malloc.requested").hasSum()).isTrue();
      assertThat(ours).allSatisfy(metric -> assertThat(metric.getDescription()).isNotEmpty());
      // Metrics of the process and the JVM are published by Spring Boot only; mallometer must not
      // publish them again.
      assertThat(byName.keySet()).noneMatch(name -> name.matches("(process|jvm|system)\\..*"));
      assertThat(push.request().toString()).contains("service.name", "shop");
      System.out.printf(
          "%d series of ours of %d in a push of %d bytes%n",
          series(ours), series(push.metrics()), push.bytes());
    }
  }

  private static long series(List<Metric> metrics) {
    return metrics.stream().mapToLong(OtlpTest::points).sum();
  }

  private static long points(Metric metric) {
    List<NumberDataPoint> points =
        metric.hasSum()
            ? metric.getSum().getDataPointsList()
            : metric.getGauge().getDataPointsList();
    return points.isEmpty() ? 1 : points.size();
  }
}
