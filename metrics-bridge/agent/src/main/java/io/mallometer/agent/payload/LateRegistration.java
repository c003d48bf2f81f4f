package io.mallometer.agent.payload;

import io.mallometer.Mallometer;
import io.mallometer.jfr.NativeMemoryEvents;
import io.mallometer.jmx.NativeMemoryMBeans;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import javax.management.MBeanServerFactory;
import org.jspecify.annotations.Nullable;

/**
 * Registers the MBeans only when the application first uses JMX. Loading JMX earlier would cost
 * 0.25 s of CPU time, and would start {@code java.util.logging} before a server has configured it.
 * Registers the events of Flight Recorder after 10 s, to spare short programs the cost, or as soon
 * as JMX is used or a recording is requested.
 */
final class LateRegistration {

  private static final String JMX_OPTIONS = "com.sun.management.";

  private static final String COMMAND_LINE = "/proc/self/cmdline";
  private static final String RECORDING_OPTION = "FlightRecord";

  private static final int QUICK_CHECKS = 50;
  private static final long QUICK_PACE_MILLIS = 200;
  private static final long PACE_MILLIS = 1_000;

  private final Mallometer mallometer;

  LateRegistration(Mallometer mallometer) {
    this.mallometer = mallometer;
  }

  /**
   * Waits until the events and the MBeans are due, registers them, and returns.
   *
   * @param logging an action that starts {@code java.util.logging}; runs when JMX is used, or after
   *     10 s; null for none
   */
  void run(@Nullable Runnable logging) {
    boolean asked = jmxAskedFor();
    if (asked) {
      NativeMemoryMBeans.register(mallometer);
    }
    boolean recording = recordingAskedFor();
    int checks = 0;
    for (; checks < QUICK_CHECKS && !recording && !jmxIsUsed(); checks++) {
      pause(QUICK_PACE_MILLIS);
    }
    NativeMemoryEvents.register(mallometer);
    if (logging != null) {
      for (; checks < QUICK_CHECKS && !jmxIsUsed(); checks++) {
        pause(QUICK_PACE_MILLIS);
      }
      logging.run();
    }
    if (!asked) {
      while (!jmxIsUsed()) {
        pause(PACE_MILLIS);
      }
      NativeMemoryMBeans.register(mallometer);
    }
  }

  private static boolean jmxIsUsed() {
    return !MBeanServerFactory.findMBeanServer(null).isEmpty();
  }

  private static void pause(long millis) {
    try {
      TimeUnit.MILLISECONDS.sleep(millis);
    } catch (InterruptedException e) {
      // Ignores the interrupt: some applications interrupt all threads when they stop.
      return;
    }
  }

  private static boolean jmxAskedFor() {
    for (String name : System.getProperties().stringPropertyNames()) {
      if (name.startsWith(JMX_OPTIONS)) {
        return true;
      }
    }
    return false;
  }

  private static boolean recordingAskedFor() {
    // A FileChannel is not used, because its classes take the JDK some milliseconds to load.
    try (InputStream line = new FileInputStream(COMMAND_LINE)) {
      return new String(line.readAllBytes(), StandardCharsets.ISO_8859_1)
          .contains(RECORDING_OPTION);
    } catch (IOException | RuntimeException e) {
      return false;
    }
  }
}
