package io.mallometer.jmx;

import io.mallometer.Mallometer;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.management.ManagementFactory;
import javax.management.InstanceAlreadyExistsException;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.ListenerNotFoundException;
import javax.management.MBeanServer;
import javax.management.MBeanServerDelegate;
import javax.management.MBeanServerNotification;
import javax.management.MalformedObjectNameException;
import javax.management.Notification;
import javax.management.NotificationListener;
import javax.management.ObjectName;

/**
 * Registers {@code io.mallometer:type=NativeMemory}.
 *
 * <p>The name belongs to whoever registers first: a second web application, or a second context of
 * the same one, waits without a word and registers when the name becomes free. Closing unregisters
 * only what this object registered.
 */
public final class NativeMemoryMBeans implements AutoCloseable {

  /** The name of the MBean. */
  public static final String NAME = "io.mallometer:type=NativeMemory";

  private static final Logger LOGGER = System.getLogger(NativeMemoryMBeans.class.getName());

  private final MBeanServer server;
  private final ObjectName name;
  private final DescribedMBean bean;
  private final NotificationListener whenFreed = this::onNotification;
  private boolean closed;

  private NativeMemoryMBeans(Mallometer mallometer, MBeanServer server) {
    this.server = server;
    this.name = objectName();
    this.bean = new DescribedMBean(new NativeMemory(mallometer));
  }

  /** Registers with the platform's MBean server. */
  public static NativeMemoryMBeans register(Mallometer mallometer) {
    return register(mallometer, ManagementFactory.getPlatformMBeanServer());
  }

  /** Registers with an MBean server. Never throws: what prevents it is logged. */
  public static NativeMemoryMBeans register(Mallometer mallometer, MBeanServer server) {
    NativeMemoryMBeans beans = new NativeMemoryMBeans(mallometer, server);
    beans.watchName();
    beans.tryRegister();
    return beans;
  }

  /** Whether the MBean that answers under the name is this one. */
  public boolean registered() {
    return bean.registered();
  }

  /** Unregisters. Does nothing the second time. */
  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    unwatchName();
    if (bean.registered()) {
      try {
        server.unregisterMBean(name);
      } catch (InstanceNotFoundException e) {
        LOGGER.log(Level.DEBUG, "Somebody unregistered {0} first", NAME);
      } catch (JMException | RuntimeException e) {
        LOGGER.log(Level.WARNING, "Cannot unregister " + NAME, e);
      }
    }
  }

  private synchronized void tryRegister() {
    if (closed || bean.registered()) {
      return;
    }
    try {
      server.registerMBean(bean, name);
    } catch (InstanceAlreadyExistsException e) {
      LOGGER.log(Level.DEBUG, "{0} is registered already; waiting until it is free", NAME);
    } catch (JMException | RuntimeException e) {
      LOGGER.log(Level.WARNING, "Cannot register " + NAME, e);
    }
  }

  private void onNotification(Notification notification, Object handback) {
    if (notification instanceof MBeanServerNotification change
        && change.getType().equals(MBeanServerNotification.UNREGISTRATION_NOTIFICATION)
        && change.getMBeanName().equals(name)) {
      tryRegister();
    }
  }

  private void watchName() {
    try {
      server.addNotificationListener(MBeanServerDelegate.DELEGATE_NAME, whenFreed, null, null);
    } catch (JMException | RuntimeException e) {
      LOGGER.log(Level.DEBUG, "Cannot watch for a free name", e);
    }
  }

  private void unwatchName() {
    try {
      server.removeNotificationListener(MBeanServerDelegate.DELEGATE_NAME, whenFreed);
    } catch (ListenerNotFoundException e) {
      LOGGER.log(Level.DEBUG, "Was not watching for a free name");
    } catch (JMException | RuntimeException e) {
      LOGGER.log(Level.DEBUG, "Cannot stop watching for a free name", e);
    }
  }

  private static ObjectName objectName() {
    try {
      return new ObjectName(NAME);
    } catch (MalformedObjectNameException e) {
      throw new IllegalStateException("a constant name is well-formed", e);
    }
  }
}
