package recipe;

import io.mallometer.Mallometer;
import io.mallometer.micrometer.NativeMemoryMetrics;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.util.List;

/**
 * Binds the native-memory meters to the application's own registry, if the test runner asks for
 * them.
 */
@ApplicationScoped
public class NativeMemory {

  private Mallometer mallometer;

  void start(@Observes StartupEvent event, MeterRegistry registry) {
    if (Boolean.getBoolean("recipe.bind")) {
      mallometer = Mallometer.open();
      new NativeMemoryMetrics(mallometer, List.of()).bindTo(registry);
    }
  }

  void stop(@Observes ShutdownEvent event) {
    if (mallometer != null) {
      mallometer.close();
    }
  }
}
