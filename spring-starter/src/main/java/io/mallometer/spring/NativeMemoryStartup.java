package io.mallometer.spring;

import io.mallometer.NativeScope;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.metrics.buffering.BufferingApplicationStartup;
import org.springframework.core.metrics.StartupStep;

/**
 * Tags each step of the application's start with the bytes that its thread allocated during the
 * step ({@code native.allocated}), and with the net bytes, which are the allocated minus the freed
 * bytes ({@code native.net}). A step includes the steps inside it. The Actuator endpoint {@code
 * startup} shows the tags.
 *
 * <pre>{@code
 * SpringApplication application = new SpringApplication(Shop.class);
 * application.setApplicationStartup(new NativeMemoryStartup(2048));
 * application.run(arguments);
 * }</pre>
 *
 * <p>A step has no tags if it begins before the library counts. Only a preloaded library counts
 * from the JVM's start on.
 */
public final class NativeMemoryStartup extends BufferingApplicationStartup {

  /**
   * Creates a startup that stores its steps in memory.
   *
   * @param capacity the largest number of stored steps; later steps are dropped
   */
  public NativeMemoryStartup(int capacity) {
    super(capacity);
  }

  @Override
  public StartupStep start(String name) {
    return new MeasuredStep(super.start(name), NativeScope.ofThread());
  }

  private record MeasuredStep(StartupStep step, NativeScope open) implements StartupStep {

    @Override
    public String getName() {
      return step.getName();
    }

    @Override
    public long getId() {
      return step.getId();
    }

    @Override
    public @Nullable Long getParentId() {
      return step.getParentId();
    }

    @Override
    public StartupStep tag(String key, String value) {
      step.tag(key, value);
      return this;
    }

    @Override
    public StartupStep tag(String key, Supplier<String> value) {
      step.tag(key, value);
      return this;
    }

    @Override
    public Tags getTags() {
      return step.getTags();
    }

    @Override
    public void end() {
      open.close();
      open.figures()
          .counts()
          .ifPresent(
              counted -> {
                step.tag("native.allocated", Long.toString(counted.allocatedBytes()));
                step.tag(
                    "native.net", Long.toString(counted.allocatedBytes() - counted.freedBytes()));
              });
      step.end();
    }
  }
}
