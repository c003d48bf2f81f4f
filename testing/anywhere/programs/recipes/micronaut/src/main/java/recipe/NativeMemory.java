package recipe;

import io.mallometer.Mallometer;
import io.mallometer.micrometer.NativeMemoryMetrics;
import io.micrometer.core.instrument.MeterRegistry;
import io.micronaut.context.annotation.Requires;
import io.micronaut.context.event.StartupEvent;
import io.micronaut.runtime.event.annotation.EventListener;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import java.util.List;

/**
 * Binds the native-memory meters to the application's own registry, if the test runner asks for
 * them.
 */
@Singleton
@Requires(property = "recipe.bind", value = "true")
public class NativeMemory {

  private final MeterRegistry registry;
  private final Mallometer mallometer = Mallometer.open();

  NativeMemory(MeterRegistry registry) {
    this.registry = registry;
  }

  @EventListener
  void start(StartupEvent event) {
    new NativeMemoryMetrics(mallometer, List.of()).bindTo(registry);
  }

  @PreDestroy
  void stop() {
    mallometer.close();
  }
}
