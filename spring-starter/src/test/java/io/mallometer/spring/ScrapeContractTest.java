package io.mallometer.spring;

import io.mallometer.FaceContract;
import io.mallometer.Mallometer;
import io.mallometer.Published;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.springframework.context.ConfigurableApplicationContext;

@Tag("context")
@Tag("any-jdk")
@Tag("newest-boot")
class ScrapeContractTest extends FaceContract {

  @Override
  protected Face open(Mallometer mallometer, Map<String, String> commonLabels) {
    String[] tags =
        commonLabels.entrySet().stream()
            .map(label -> "--management.metrics.tags." + label.getKey() + "=" + label.getValue())
            .toArray(String[]::new);
    ConfigurableApplicationContext context = Contexts.with(mallometer).run(tags);
    PrometheusMeterRegistry registry = context.getBean(PrometheusMeterRegistry.class);
    return new Face() {
      @Override
      public List<Published> shown() {
        return Published.parse(registry.scrape());
      }

      @Override
      public void close() {
        context.close();
      }
    };
  }
}
