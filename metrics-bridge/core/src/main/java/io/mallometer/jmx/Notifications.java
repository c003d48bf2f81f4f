package io.mallometer.jmx;

import io.mallometer.Mallometer;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.MonitorEvent;
import io.mallometer.model.SiteVerdict;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import javax.management.MBeanNotificationInfo;
import javax.management.Notification;
import javax.management.NotificationBroadcasterSupport;
import javax.management.openmbean.SimpleType;

/**
 * Sends an MBean's notifications until it is closed. What they carry is open data, which clients
 * understand without classes of mallometer.
 */
final class Notifications extends NotificationBroadcasterSupport implements AutoCloseable {

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

  private static final OpenRow MONITOR =
      new OpenRow(
          "MonitorEvent",
          "What a monitor has seen",
          new String[] {"monitor", "time", "bytes", "details"},
          SimpleType.STRING,
          SimpleType.STRING,
          SimpleType.LONG,
          SimpleType.STRING);

  private final AtomicLong monitorEvents = new AtomicLong();
  private final AtomicLong leaks = new AtomicLong();
  private final Mallometer.Subscription subscription;

  private Notifications(
      String type,
      String description,
      Function<Notifications, Mallometer.Subscription> subscription) {
    super(
        new MBeanNotificationInfo(new String[] {type}, Notification.class.getName(), description));
    this.subscription = subscription.apply(this);
  }

  /** One for each huge request. */
  static Notifications ofHugeAllocations(Mallometer mallometer) {
    return new Notifications(
        AllocatorMXBean.HUGE_ALLOCATION,
        "A request above the size MALLOMETER_HUGE",
        sender -> mallometer.allocator().onHugeAllocation(sender::send));
  }

  /** One for each site that becomes a leak; its message is the verdict's sentence. */
  static Notifications ofLeaks(Mallometer mallometer) {
    return new Notifications(
        LeakDetectorMXBean.LEAK,
        "A call site has become a leak",
        sender -> mallometer.leaks().onLeak(sender::send));
  }

  /** One for each event of a monitor; its message is the event's sentence. */
  static Notifications ofMonitors(Mallometer mallometer) {
    return new Notifications(
        NativeMemoryMXBean.MONITOR,
        "A monitor has seen something",
        sender -> mallometer.monitors().onEvent(sender::send));
  }

  private void send(MonitorEvent event) {
    Notification notification =
        new Notification(
            NativeMemoryMXBean.MONITOR,
            Registration.objectName(NativeMemoryMBeans.NAME),
            monitorEvents.incrementAndGet(),
            event.time().toEpochMilli(),
            event.sentence());
    notification.setUserData(
        MONITOR.of(
            event.monitor().toString(),
            event.time().toString(),
            event.bytes(),
            String.join("\n", event.details())));
    sendNotification(notification);
  }

  private void send(HugeAllocation allocation, long missedBefore) {
    Notification notification =
        new Notification(
            AllocatorMXBean.HUGE_ALLOCATION,
            Registration.objectName(NativeMemoryMBeans.ALLOCATOR_NAME),
            allocation.number(),
            allocation.time().toEpochMilli(),
            String.format(
                Locale.ROOT,
                "%s requested %.1f MiB",
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

  private void send(SiteVerdict leak) {
    Notification notification =
        new Notification(
            LeakDetectorMXBean.LEAK,
            Registration.objectName(NativeMemoryMBeans.LEAK_DETECTOR_NAME),
            leaks.incrementAndGet(),
            leak.since().toEpochMilli(),
            leak.sentence());
    notification.setUserData(OpenRecords.row(leak));
    sendNotification(notification);
  }

  @Override
  public void close() {
    subscription.close();
  }
}
