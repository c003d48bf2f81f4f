package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.internal.library.load.BundledLibrary;
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

  @TempDir Path directory;

  @Test
  @Tag("process")
  void libraryIsUnpackedBesideTheStart() throws Exception {
    ChildProcess.run(directory, command("true"));

    assertThat(unpacked()).hasSize(1);
  }

  @Test
  @Tag("process")
  void nothingHappensWhenDisabled() throws Exception {
    ChildProcess.run(directory, command("false"));

    assertThat(unpacked()).isEmpty();
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

  private List<String> command(String enabled) {
    return List.of(
        "env",
        "XDG_CACHE_HOME=" + directory.resolve("cache"),
        ChildProcess.java(),
        "-cp",
        System.getProperty("java.class.path"),
        WithoutAutoConfiguration.class.getName(),
        "--mallometer.enabled=" + enabled);
  }

  private List<Path> unpacked() throws Exception {
    Path cache = Files.createDirectories(directory.resolve("cache"));
    try (Stream<Path> files = Files.walk(cache)) {
      return files.filter(file -> file.endsWith(BundledLibrary.FILE_NAME)).toList();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class WithoutAutoConfiguration {

    public static void main(String[] arguments) throws InterruptedException {
      SpringApplication application = new SpringApplication(WithoutAutoConfiguration.class);
      application.setWebApplicationType(WebApplicationType.NONE);
      ConfigurableApplicationContext context = application.run(arguments);
      for (Thread thread : Thread.getAllStackTraces().keySet()) {
        if (thread.getName().equals(BackgroundStart.THREAD)) {
          thread.join(60_000);
        }
      }
      context.close();
    }
  }
}
