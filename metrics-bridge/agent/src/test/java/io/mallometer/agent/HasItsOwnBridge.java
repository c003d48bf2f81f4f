package io.mallometer.agent;

import io.mallometer.Mallometer;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Status;
import java.time.Duration;

/** An application that brings the bridge and does not attach: says each status that it sees. */
public final class HasItsOwnBridge {

  private HasItsOwnBridge() {}

  /** Runs. */
  public static void main(String[] arguments) throws Exception {
    MallometerOptions often = MallometerOptions.defaults().withPollInterval(Duration.ofMillis(200));
    try (Mallometer mallometer = Mallometer.open(often)) {
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
}
