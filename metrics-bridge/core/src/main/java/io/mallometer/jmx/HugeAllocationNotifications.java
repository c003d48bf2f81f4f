package io.mallometer.jmx;

import io.mallometer.Mallometer;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.HugeAllocationListener;
import java.util.Locale;
import javax.management.MBeanNotificationInfo;
import javax.management.Notification;
import javax.management.NotificationBroadcasterSupport;
import javax.management.openmbean.SimpleType;

/**
 * Sends each huge request as a notification, as long as its MBean is registered. What it carries is
 * open data, which clients understand without classes of mallometer.
 */
final class HugeAllocationNotifications extends NotificationBroadcasterSupport
    implements HugeAllocationListener, AutoCloseable {

  private static final OpenRow REQUEST =
      new OpenRow(
          "LargeAllocation",
          "A huge request for native memory",
          new String[] {"number", "time", "bytes", "threadId", "threadName", "missedBefore"},
          SimpleType.LONG,
          SimpleType.STRING,
          SimpleType.LONG,
          SimpleType.INTEGER,
          SimpleType.STRING,
          SimpleType.LONG);

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
    notification.setUserData(
        REQUEST.of(
            allocation.number(),
            allocation.time().toString(),
            allocation.bytes(),
            allocation.threadId(),
            allocation.threadName(),
            missedBefore));
    sendNotification(notification);
  }

  @Override
  public void close() {
    subscription.close();
  }
}
