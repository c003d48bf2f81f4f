package io.mallometer.agent;

import io.mallometer.Mallometer;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;
import io.mallometer.model.Status;
import java.time.Duration;
import java.time.Instant;

/**
 * An application that opens its own {@link Mallometer} without attaching the library, and prints
 * each new status. With the argument {@code closed} it closes the instance, and prints a line if a
 * newer snapshot appears afterwards.
 */
public final class HasItsOwnBridge {

  private HasItsOwnBridge() {}

  public static void main(String[] arguments) throws Exception {
    MallometerOptions often =
        MallometerOptions.defaults().with(Setting.POLL_INTERVAL, Duration.ofMillis(200));
    try (Mallometer mallometer = Mallometer.open(often)) {
      if (arguments.length > 0 && arguments[0].equals("closed")) {
        close(mallometer);
      }
      String latest = "";
      while (true) {
        Status status = mallometer.snapshot().status();
        if (!status.reason().equals(latest)) {
          latest = status.reason();
          System.out.println(status.state() + " " + latest);
        }
        Thread.sleep(20);
      }
    }
  }

  private static void close(Mallometer mallometer) throws InterruptedException {
    Thread.sleep(1_000);
    mallometer.close();
    // A reading that has begun may end after close() has returned.
    while (Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().startsWith("mallometer-poll"))) {
      Thread.sleep(20);
    }
    Instant latest = mallometer.snapshot().time();
    System.out.println("closed");
    while (mallometer.snapshot().time().equals(latest)) {
      Thread.sleep(20);
    }
    System.out.println("read again");
  }
}
