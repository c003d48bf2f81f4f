package io.mallometer.jmx;

import io.mallometer.Mallometer;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.HugeAllocationListener;
import java.util.Locale;
import java.util.Map;
import javax.management.MBeanNotificationInfo;
import javax.management.Notification;
import javax.management.NotificationBroadcasterSupport;
import javax.management.openmbean.CompositeDataSupport;
import javax.management.openmbean.CompositeType;
import javax.management.openmbean.OpenDataException;
import javax.management.openmbean.OpenType;
import javax.management.openmbean.SimpleType;

/**
 * Sends each huge request as a notification, as long as its MBean is registered. What it carries is
 * open data, which clients understand without classes of mallometer.
 */
final class HugeAllocationNotifications extends NotificationBroadcasterSupport
    implements HugeAllocationListener, AutoCloseable {

  private static final String[] NAMES = {
    "number", "time", "bytes", "threadId", "threadName", "missedBefore"
  };

  private static final CompositeType TYPE = type();

  private final Mallometer.Subscription subscription;

  HugeAllocationNotifications(Mallometer mallometer) {
    super(
        new MBeanNotificationInfo(
            new String[] {AllocatorMXBean.HUGE_ALLOCATION},
            Notification.class.getName(),
            "A request above the size MALLOMETER_HUGE"));
    subscription = mallometer.allocator().onHugeAllocation(this);
  }

  @Override
  public void onHugeAllocation(HugeAllocation allocation, long missedBefore) {
    Notification notification =
        new Notification(
            AllocatorMXBean.HUGE_ALLOCATION,
            Registration.objectName(NativeMemoryMBeans.ALLOCATOR_NAME),
            allocation.number(),
            allocation.time().toEpochMilli(),
            String.format(
                Locale.ROOT,
                "%s asked for %.1f MiB",
                allocation.threadName(),
                allocation.bytes() / (double) (1 << 20)));
    notification.setUserData(data(allocation, missedBefore));
    sendNotification(notification);
  }

  @Override
  public void close() {
    subscription.close();
  }

  private static CompositeDataSupport data(HugeAllocation allocation, long missedBefore) {
    try {
      return new CompositeDataSupport(
          TYPE,
          Map.of(
              "number", allocation.number(),
              "time", allocation.time().toString(),
              "bytes", allocation.bytes(),
              "threadId", allocation.threadId(),
              "threadName", allocation.threadName(),
              "missedBefore", missedBefore));
    } catch (OpenDataException e) {
      throw new IllegalStateException("the values are those of the type", e);
    }
  }

  private static CompositeType type() {
    try {
      return new CompositeType(
          "LargeAllocation",
          "A huge request for native memory",
          NAMES,
          NAMES,
          new OpenType<?>[] {
            SimpleType.LONG,
            SimpleType.STRING,
            SimpleType.LONG,
            SimpleType.INTEGER,
            SimpleType.STRING,
            SimpleType.LONG
          });
    } catch (OpenDataException e) {
      throw new IllegalStateException("a constant type is valid", e);
    }
  }
}
