package io.mallometer.junit;

import io.mallometer.model.State;
import io.mallometer.model.Status;
import java.io.IOException;
import java.util.function.Supplier;
import javax.management.JMException;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import org.jspecify.annotations.Nullable;

/** By the MBean's bracket, which counts at the moment that it is asked. */
final class JmxFigures implements RemoteFigures {

  private static final String NAME = "io.mallometer:type=NativeMemory";

  private final Supplier<MBeanServerConnection> connection;
  private boolean hooked;

  JmxFigures(Supplier<MBeanServerConnection> connection) {
    this.connection = connection;
  }

  @Override
  public Status status() throws IOException {
    try {
      return new Status(State.valueOf(text("Status")), text("Reason"), text("Remedy"));
    } catch (JMException e) {
      throw new IOException("the MBean " + NAME + " cannot be read: " + e, e);
    }
  }

  private String text(String attribute) throws IOException, JMException {
    return String.valueOf(connection.get().getAttribute(ObjectName.getInstance(NAME), attribute));
  }

  @Override
  public synchronized NativeUse read() throws IOException {
    try {
      if (!hooked) {
        invoke("hook");
        hooked = true;
      }
      @Nullable Object statistics = invoke("statistics");
      if (statistics instanceof CompositeData counted) {
        return use(counted);
      }
      throw new IOException("the MBean " + NAME + " has counted nothing");
    } catch (JMException e) {
      throw new IOException("the MBean " + NAME + " does not answer: " + e, e);
    }
  }

  private @Nullable Object invoke(String operation) throws IOException, JMException {
    return connection
        .get()
        .invoke(ObjectName.getInstance(NAME), operation, new Object[0], new String[0]);
  }

  private static NativeUse use(CompositeData counted) {
    return new NativeUse(
        figure(counted, "allocationCount"),
        figure(counted, "smallAllocationCount"),
        figure(counted, "largeAllocationCount"),
        figure(counted, "requestedBytes"),
        figure(counted, "freeCount"),
        figure(counted, "allocatedBytes") - figure(counted, "freedBytes"),
        Double.NaN,
        Double.NaN);
  }

  private static long figure(CompositeData counted, String name) {
    return ((Number) counted.get(name)).longValue();
  }
}
