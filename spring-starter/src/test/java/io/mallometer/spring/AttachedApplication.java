package io.mallometer.spring;

import io.mallometer.Mallometer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.Deflater;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.context.event.ApplicationPreparedEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;

/**
 * Runs two applications in one process, and prints scrapes before and after an allocation of native
 * memory. Then starts a third application with a mistyped property.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class AttachedApplication {

  static final int DEFLATERS = 200;

  private static final long LONGEST_WAIT_NANOS = 1_000_000_000;

  private static final List<Deflater> kept = new ArrayList<>();

  private static long contextPrepared;

  /** Allocates only after an early attach has ended. */
  @Bean
  String keeper() throws InterruptedException {
    awaitEndOf(BackgroundStart.THREAD);
    keep();
    return "keeps";
  }

  private static void keep() {
    for (int i = 0; i < DEFLATERS; i++) {
      kept.add(new Deflater());
    }
  }

  public static void main(String[] arguments) throws InterruptedException {
    try (RunningApplication first = RunningApplication.start(application(), arguments);
        ConfigurableApplicationContext second = Contexts.application().run(arguments)) {
      awaitEndOf(BackgroundStart.THREAD);
      awaitEndOf(AttachAfterRefresh.THREAD);
      print("at first", first.scrape());
      keep();
      second.getBean(Mallometer.class).poll();
      print("then", first.scrape());
      System.out.println("health " + first.get("/actuator/health/nativeMemory"));
    }
    try {
      Contexts.application().run("--mallometer.attach=of").close();
    } catch (RuntimeException refused) {
      // Spring Boot has logged the reason.
    }
  }

  private static SpringApplication application() {
    SpringApplication application = new SpringApplication(AttachedApplication.class);
    application.addListeners(
        new WhenPrepared(Ordered.HIGHEST_PRECEDENCE, () -> contextPrepared = System.nanoTime()),
        new WhenPrepared(Ordered.LOWEST_PRECEDENCE, AttachedApplication::tellWhatIsCounted));
    return application;
  }

  /**
   * Prints whether Spring waited for the attach before it created beans. Reads the time first,
   * because {@link Mallometer#open()} is slow and must not count as waiting.
   */
  private static void tellWhatIsCounted() {
    long waited = System.nanoTime() - contextPrepared;
    try (Mallometer mallometer = Mallometer.open()) {
      System.out.println(
          waited >= LONGEST_WAIT_NANOS || mallometer.status().active()
              ? "beans have waited"
              : "beans have not waited");
    }
  }

  private record WhenPrepared(int getOrder, Runnable action)
      implements ApplicationListener<ApplicationPreparedEvent>, Ordered {

    @Override
    public void onApplicationEvent(ApplicationPreparedEvent event) {
      action.run();
    }
  }

  private static void awaitEndOf(String name) throws InterruptedException {
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().equals(name)) {
        thread.join(60_000);
      }
    }
  }

  private static void print(String when, Map<String, Double> scrape) {
    new TreeMap<>(scrape)
        .forEach((series, value) -> System.out.println(when + ": " + series + " " + value));
  }
}
