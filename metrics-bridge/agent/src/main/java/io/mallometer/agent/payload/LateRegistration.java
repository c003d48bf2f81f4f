package io.mallometer.agent.payload;

import io.mallometer.Mallometer;
import io.mallometer.jfr.NativeMemoryEvents;
import io.mallometer.jmx.NativeMemoryMBeans;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import javax.management.MBeanServerFactory;

/**
 * Registers the MBeans and the events of recordings as soon as somebody uses JMX or asks for a
 * recording, and after some seconds in any case: a JVM takes a quarter of a second of processor
 * time to load JMX, which is longer than many programs run. The poller needs it for its first
 * reading of where memory is.
 */
final class LateRegistration {

  /** What the options of the JVM's own JMX server begin with. */
  private static final String JMX_OPTIONS = "com.sun.management.";

  private static final Path COMMAND_LINE = Path.of("/proc/self/cmdline");
  private static final String RECORDING_OPTION = "FlightRecord";

  private static final int CHECKS = 50;
  private static final long PACE_MILLIS = 200;

  private final Mallometer mallometer;

  LateRegistration(Mallometer mallometer) {
    this.mallometer = mallometer;
  }

  /** Returns when all is registered. */
  void run() {
    if (!jmxAskedFor() && !recordingAskedFor()) {
      awaitUse();
    }
    NativeMemoryMBeans.register(mallometer);
    NativeMemoryEvents.register(mallometer);
  }

  private static void awaitUse() {
    try {
      for (int i = 0; i < CHECKS && MBeanServerFactory.findMBeanServer(null).isEmpty(); i++) {
        TimeUnit.MILLISECONDS.sleep(PACE_MILLIS);
      }
    } catch (InterruptedException e) {
      // Somebody sweeps threads; then at once.
      Thread.currentThread().interrupt();
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
    try {
      return new String(Files.readAllBytes(COMMAND_LINE), StandardCharsets.ISO_8859_1)
          .contains(RECORDING_OPTION);
    } catch (IOException | RuntimeException e) {
      return false;
    }
  }
}
