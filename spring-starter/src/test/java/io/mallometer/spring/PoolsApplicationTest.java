package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.ResourceLeakDetector;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIf;
import org.springframework.boot.SpringApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;

/** Tests that mallometer names the handler method that keeps buffers of Netty's pools. */
@Tag("application")
@EnabledIf("reactivePreloaded")
class PoolsApplicationTest {

  private static final int KEPT = 40;
  private static final int BYTES = 8_192;

  @Configuration(proxyBeanMethods = false)
  static class Beans {
    @Bean
    Sessions sessions() {
      return new Sessions();
    }
  }

  @RestController
  static class Sessions {
    private final Queue<DataBuffer> kept = new ConcurrentLinkedQueue<>();

    @GetMapping("/opened")
    String open(ServerWebExchange exchange) {
      kept.add(exchange.getResponse().bufferFactory().allocateBuffer(BYTES));
      return "opened";
    }

    @GetMapping("/served")
    String serve(ServerWebExchange exchange) {
      DataBufferUtils.release(exchange.getResponse().bufferFactory().allocateBuffer(BYTES));
      return "served";
    }
  }

  static boolean reactivePreloaded() {
    return Matrix.preloaded() && !Matrix.servlet();
  }

  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  void aHandlerThatKeepsBuffersIsNamedWithItsLine() throws InterruptedException {
    ResourceLeakDetector.Level before = ResourceLeakDetector.getLevel();
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
    SpringApplication spring = new SpringApplication(TestApplication.class, Beans.class);
    try (RunningApplication application =
        RunningApplication.start(spring, "--mallometer.poll-interval=1s")) {
      for (int i = 0; i < KEPT; i++) {
        application.get("/opened");
        application.get("/served");
      }

      Map<String, Object> site = siteOf("Sessions.open", application);

      assertThat(String.valueOf(site.get("line")))
          .matches(
              ".*PoolsApplicationTest\\$Sessions\\.open\\(PoolsApplicationTest\\.java:\\d+\\)");
      assertThat(value(site, "buffers")).isEqualTo(KEPT);
      assertThat(value(site, "bytes")).isGreaterThanOrEqualTo(KEPT * BYTES);
      assertThat(application.scrape().get("native_pool_size_bytes"))
          .isGreaterThan((double) KEPT * BYTES);
      application.context().getBean(Sessions.class).kept.forEach(DataBufferUtils::release);
    } finally {
      ResourceLeakDetector.setLevel(before);
    }
  }

  /** Reads the pools from the endpoint until one call site in the method holds all kept buffers. */
  private static Map<String, Object> siteOf(String method, RunningApplication application)
      throws InterruptedException {
    while (true) {
      for (Map<String, Object> pool :
          maps(application.json("/actuator/nativememory/pools"), "pools")) {
        for (Map<String, Object> site : maps(pool, "bufferSites")) {
          if (String.valueOf(site.get("line")).contains(method) && value(site, "buffers") == KEPT) {
            return site;
          }
        }
      }
      Thread.sleep(200);
    }
  }

  @SuppressWarnings("unchecked")
  private static List<Map<String, Object>> maps(Map<String, Object> json, String name) {
    return (List<Map<String, Object>>) json.getOrDefault(name, List.of());
  }

  @SuppressWarnings("unchecked")
  private static double value(Map<String, Object> site, String name) {
    return ((Number) ((Map<String, Object>) site.get(name)).get("value")).doubleValue();
  }
}
