package io.mallometer.jmx;

import io.mallometer.internal.text.Log;
import java.util.function.Supplier;
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
import org.jspecify.annotations.Nullable;

/**
 * An MBean that is registered, or that will be registered when its name is free. Closing
 * unregisters only what this object registered.
 */
final class Registration implements AutoCloseable {

  private static final Log LOG = Log.of(NativeMemoryMBeans.class);

  private final MBeanServer server;
  private final ObjectName name;
  private final @Nullable DescribedMBean bean;
  private final NotificationListener whenFreed = this::onNotification;
  private boolean closed;

  private Registration(MBeanServer server, String name, Supplier<DescribedMBean> bean) {
    this.server = server;
    this.name = objectName(name);
    this.bean = make(bean);
  }

  /**
   * Creates an MBean and registers it. Never throws: a failure is logged. For example, a native
   * image may lack classes that the MBean needs.
   */
  static Registration of(MBeanServer server, String name, Supplier<DescribedMBean> bean) {
    Registration registration = new Registration(server, name, bean);
    registration.watchName();
    registration.tryRegister();
    return registration;
  }

  boolean registered() {
    return bean != null && bean.registered();
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    unwatchName();
    if (registered()) {
      try {
        server.unregisterMBean(name);
      } catch (InstanceNotFoundException e) {
        LOG.debug(name + " was unregistered by other code", e);
      } catch (JMException | RuntimeException e) {
        LOG.warn("Cannot unregister " + name, e);
      }
    }
  }

  private @Nullable DescribedMBean make(Supplier<DescribedMBean> bean) {
    try {
      return bean.get();
    } catch (RuntimeException | LinkageError e) {
      LOG.warn("Cannot make " + name, e);
      return null;
    }
  }

  private synchronized void tryRegister() {
    if (closed || bean == null || bean.registered()) {
      return;
    }
    try {
      server.registerMBean(bean, name);
    } catch (InstanceAlreadyExistsException e) {
      LOG.debug(name + " is registered already; waiting until it is free", e);
    } catch (JMException | RuntimeException e) {
      LOG.warn("Cannot register " + name, e);
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
      LOG.debug("Cannot watch for a free name", e);
    }
  }

  private void unwatchName() {
    try {
      server.removeNotificationListener(MBeanServerDelegate.DELEGATE_NAME, whenFreed);
    } catch (ListenerNotFoundException e) {
      LOG.debug("Was not watching for a free name", e);
    } catch (JMException | RuntimeException e) {
      LOG.debug("Cannot stop watching for a free name", e);
    }
  }

  static ObjectName objectName(String name) {
    try {
      return new ObjectName(name);
    } catch (MalformedObjectNameException e) {
      throw new IllegalStateException("a constant name is well-formed", e);
    }
  }
}
