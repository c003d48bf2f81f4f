package io.mallometer.agent.payload;

import io.mallometer.Mallometer;
import io.mallometer.MallometerOptions;
import io.mallometer.Status;
import io.mallometer.history.BlackBoxReport;
import io.mallometer.interposer.BundledLibrary;
import io.mallometer.jfr.NativeMemoryEvents;
import io.mallometer.jmx.NativeMemoryMBeans;
import io.mallometer.prometheus.NativeMemoryCollector;
import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.exporter.HTTPServer;
import java.io.IOException;
import java.nio.file.Path;

/** The payload's functions, called from outside by name and with types of the JDK only. */
public final class Entry {

  private Entry() {}

  /**
   * Unpacks the library.
   *
   * @param directory where to, or empty for the default place
   * @return the path of the file
   */
  public static String extract(String directory) throws IOException {
    Path file =
        directory.isEmpty() ? BundledLibrary.extract() : BundledLibrary.extract(Path.of(directory));
    return file.toString();
  }

  /**
   * What a black box recorded, as text.
   *
   * @throws IOException if the file cannot be read, or is no black box; the message names the file
   */
  public static String report(String file) throws IOException {
    return BlackBoxReport.of(Path.of(file));
  }

  /**
   * Starts polling and registers the MBeans and the events of recordings, for the life of the JVM.
   *
   * @param record the file in which to record the last hour; empty for none
   * @return why nothing is counted and what to do, in one line; empty while counting
   */
  public static String start(String record) {
    MallometerOptions options = MallometerOptions.defaults();
    Mallometer mallometer =
        Mallometer.open(record.isEmpty() ? options : options.withRecordPath(Path.of(record)));
    NativeMemoryMBeans.register(mallometer);
    NativeMemoryEvents.register(mallometer);
    Status status = mallometer.status();
    return status.active() ? "" : status.toString();
  }

  /**
   * Serves Prometheus' formats on every path, from daemon threads, for the life of the JVM.
   *
   * @throws IOException if it cannot listen there
   */
  public static void serve(String host, int port) throws IOException {
    CollectorRegistry registry = new CollectorRegistry();
    registry.register(new NativeMemoryCollector(Mallometer.open()));
    new HTTPServer.Builder()
        .withHostname(host)
        .withPort(port)
        .withRegistry(registry)
        .withDaemonThreads(true)
        .build();
  }
}
