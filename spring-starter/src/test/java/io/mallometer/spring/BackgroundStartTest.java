package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.internal.library.load.BundledLibrary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.context.event.ApplicationPreparedEvent;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;

@Tag("context")
@Tag("any-jdk")
class BackgroundStartTest {

  private static final String CACHE = "XDG_CACHE_HOME";

  @TempDir Path directory;

  @Test
  @Tag("process")
  void libraryIsUnpackedBesideTheStartUnlessDisabled() throws Exception {
    ChildProcess application =
        ChildProcess.run(
            directory,
            List.of(
                "env",
                CACHE + "=" + directory.resolve("cache"),
                ChildProcess.java(),
                "-Dspring.devtools.restart.enabled=false",
                "-cp",
                System.getProperty("java.class.path"),
                WithoutAutoConfiguration.class.getName(),
                "--mallometer.enabled=false",
                "--mallometer.enabled=true"));

    assertThat(application.lines("unpacked with"))
        .as(application.output())
        .containsExactly(
            "0 unpacked with --mallometer.enabled=false",
            "1 unpacked with --mallometer.enabled=true");
  }

  /** The wait is limited, because another thread may load libraries for a long time. */
  @Test
  void beansWaitForASecondAtMost() {
    BackgroundStart start = new BackgroundStart();
    start.attached = new CountDownLatch(1);

    long begin = System.nanoTime();
    start.onApplicationEvent(
        new ApplicationPreparedEvent(
            new SpringApplication(), new String[0], new GenericApplicationContext()));

    assertThat(System.nanoTime() - begin).isBetween(900_000_000L, 10_000_000_000L);
  }

  /**
   * Starts an application with each argument in turn, and prints after each start how many
   * libraries the cache has.
   */
  @Configuration(proxyBeanMethods = false)
  static class WithoutAutoConfiguration {

    public static void main(String[] arguments) throws Exception {
      for (String argument : arguments) {
        start(argument);
        System.out.println(unpacked() + " unpacked with " + argument);
      }
    }

    private static void start(String argument) throws InterruptedException {
      SpringApplication application = new SpringApplication(WithoutAutoConfiguration.class);
      application.setWebApplicationType(WebApplicationType.NONE);
      ConfigurableApplicationContext context = application.run(argument);
      for (Thread thread : Thread.getAllStackTraces().keySet()) {
        if (thread.getName().equals(BackgroundStart.THREAD)) {
          thread.join(60_000);
        }
      }
      context.close();
    }

    private static long unpacked() throws IOException {
      Path cache = Files.createDirectories(Path.of(System.getenv(CACHE)));
      try (Stream<Path> files = Files.walk(cache)) {
        return files.filter(file -> file.endsWith(BundledLibrary.FILE_NAME)).count();
      }
    }
  }
}
