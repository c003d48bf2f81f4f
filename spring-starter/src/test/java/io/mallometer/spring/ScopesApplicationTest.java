package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.zip.Deflater;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIf;
import org.junit.jupiter.api.condition.EnabledIf;
import org.springframework.boot.SpringApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

@Tag("application")
class ScopesApplicationTest {

  /** Slightly less than the 268,200 bytes of native memory that a deflater takes. */
  private static final double DEFLATER_BYTES = 268_000;

  private static final String KEPT = "{method=\"GET\",scope=\"\",uri=\"/kept/{id}\"}";
  private static final String ENDED = "{method=\"GET\",scope=\"\",uri=\"/ended\"}";
  private static final String NAMED = "{method=\"\",scope=\"named\",uri=\"\"}";

  private static final CountDownLatch SCHEDULED = new CountDownLatch(2);

  private static RunningApplication application;

  @Configuration(proxyBeanMethods = false)
  @EnableScheduling
  static class Work {
    @Bean
    Routes routes(Packer packer) {
      return new Routes(packer);
    }

    @Bean
    Packer packer() {
      return new Packer();
    }

    @Scheduled(fixedDelay = 20)
    void scheduled() {
      new Packer().pack().end();
      SCHEDULED.countDown();
    }
  }

  @RestController
  static class Routes {
    private final Queue<Deflater> kept = new ConcurrentLinkedQueue<>();
    private final Packer packer;

    Routes(Packer packer) {
      this.packer = packer;
    }

    @GetMapping("/kept/{id}")
    String kept(@PathVariable("id") int id) {
      kept.add(packer.pack());
      return "kept " + id;
    }

    @GetMapping("/ended")
    String ended() {
      packer.pack().end();
      return "ended";
    }
  }

  static class Packer {
    @NativeScoped("named")
    Deflater pack() {
      Deflater deflater = new Deflater();
      deflater.setInput(new byte[100]);
      deflater.deflate(new byte[100]);
      return deflater;
    }
  }

  @BeforeAll
  static void start() throws InterruptedException {
    SpringApplication spring = new SpringApplication(TestApplication.class, Work.class);
    spring.setApplicationStartup(new NativeMemoryStartup(10_000));
    application =
        RunningApplication.start(
            spring,
            "--mallometer.scopes.enabled=true",
            "--management.endpoints.web.exposure.include=prometheus,startup");
    for (int i = 0; i < 5; i++) {
      application.get("/kept/" + i);
      application.get("/ended");
    }
    assertThat(SCHEDULED.await(60, TimeUnit.SECONDS)).isTrue();
  }

  @AfterAll
  static void stop() {
    application.close();
  }

  @Test
  @EnabledIf("io.mallometer.spring.Matrix#servletPreloaded")
  void aRouteThatKeepsMemoryStandsOut() {
    Map<String, Double> scrape = application.scrape();

    assertThat(scrape.get("native_scope_allocated_bytes_count" + KEPT)).isEqualTo(5);
    assertThat(scrape.get("native_scope_allocated_bytes_sum" + KEPT))
        .isGreaterThan(5 * DEFLATER_BYTES);
    assertThat(scrape.get("native_scope_allocated_bytes_max" + KEPT)).isGreaterThan(DEFLATER_BYTES);
    assertThat(scrape.get("native_scope_net_bytes" + KEPT)).isGreaterThan(5 * DEFLATER_BYTES);
    assertThat(scrape.get("native_scope_allocated_bytes_sum" + ENDED))
        .isGreaterThan(5 * DEFLATER_BYTES);
    assertThat(scrape.get("native_scope_net_bytes" + ENDED)).isLessThan(DEFLATER_BYTES);
  }

  @Test
  @EnabledIf("io.mallometer.spring.Matrix#preloaded")
  void methodsAndScheduledTasksAreMeasuredOnEitherStack() {
    Map<String, Double> scrape = application.scrape();
    String task =
        "{method=\"\",scope=\"" + Work.class.getCanonicalName() + ".scheduled\",uri=\"\"}";

    assertThat(scrape.get("native_scope_allocated_bytes_count" + NAMED)).isEqualTo(10);
    assertThat(scrape.get("native_scope_net_bytes" + NAMED)).isGreaterThan(10 * DEFLATER_BYTES);
    assertThat(scrape.get("native_scope_allocated_bytes_sum" + task))
        .as(scrape.keySet().toString())
        .isGreaterThan(DEFLATER_BYTES);
  }

  @Test
  void whatIsNotKnownSaysWhy() {
    Map<String, Double> scrape = application.scrape();
    Double uncounted = scrape.get("native_scope_unknown_total{reason=\"not_counted\"}");
    Double unbound = scrape.get("native_scope_unknown_total{reason=\"no_thread\"}");

    assertThat(uncounted != null).isNotEqualTo(Matrix.preloaded());
    assertThat(unbound != null).isNotEqualTo(Matrix.servlet());
  }

  @Test
  @EnabledIf("io.mallometer.spring.Matrix#preloaded")
  void stepsOfTheStartTellWhatTheyAllocated() {
    assertThat(application.get("/actuator/startup"))
        .containsPattern(
            "\"name\":\"spring.beans.instantiate\"[^{]*\"tags\":\\[[^\\]]*\"native.allocated\"")
        .contains("\"key\":\"native.net\"");
  }

  @Test
  @DisabledIf("io.mallometer.spring.Matrix#preloaded")
  void stepsOfAStartThatIsNotCountedSayNothing() {
    assertThat(application.get("/actuator/startup"))
        .contains("spring.beans.instantiate")
        .doesNotContain("native.allocated");
  }
}
