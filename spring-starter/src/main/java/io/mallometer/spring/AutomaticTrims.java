package io.mallometer.spring;

import io.mallometer.Mallometer;
import io.mallometer.model.InvalidSettingException;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;
import java.time.Duration;

/** Trims at the interval that {@code mallometer.trim.interval} names, while the context is open. */
final class AutomaticTrims implements AutoCloseable {

  private final Mallometer.Subscription subscription;

  /**
   * Starts to trim.
   *
   * @throws InvalidSettingException if the interval is shorter than the least time between trims
   */
  AutomaticTrims(Mallometer mallometer, MallometerOptions options) {
    Duration interval = options.get(Setting.TRIM_INTERVAL);
    Duration least = options.get(Setting.TRIM_MINIMUM_INTERVAL);
    if (interval.compareTo(least) < 0) {
      throw Setting.TRIM_INTERVAL.invalid(
          Setting.text(interval),
          "must be at least %1$s, as %2$s is %1$s"
              .formatted(Setting.text(least), Setting.TRIM_MINIMUM_INTERVAL.property()));
    }
    subscription =
        mallometer.allocator().trimEvery(interval, options.get(Setting.TRIM_RETAINED_SHARE));
  }

  @Override
  public void close() {
    subscription.close();
  }
}
