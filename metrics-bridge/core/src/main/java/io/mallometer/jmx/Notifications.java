package io.mallometer.jmx;

import io.mallometer.Mallometer;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.MonitorEvent;
import io.mallometer.model.SiteVerdict;
import java.time.Instant;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import javax.management.MBeanNotificationInfo;
import javax.management.Notification;
import javax.management.NotificationBroadcasterSupport;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.SimpleType;

/**
 * Sends the notifications of an MBean until this object is closed. The user data is of the open
 * types of JMX, so clients need no classes of mallometer.
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

  private final AtomicLong numbers = new AtomicLong();
  private final String type;
  private final ObjectName source;
  private final Mallometer.Subscription subscription;

  private Notifications(
      String type,
      String source,
      String description,
      Function<Notifications, Mallometer.Subscription> subscription) {
    super(
        new MBeanNotificationInfo(new String[] {type}, Notification.class.getName(), description));
    this.type = type;
    this.source = Registration.objectName(source);
    this.subscription = subscription.apply(this);
  }

  static Notifications ofHugeAllocations(Mallometer mallometer) {
    return new Notifications(
        AllocatorMXBean.HUGE_ALLOCATION,
        NativeMemoryMBeans.ALLOCATOR_NAME,
        "A request above the size MALLOMETER_HUGE",
        sender -> mallometer.allocator().onHugeAllocation(sender::send));
  }

  static Notifications ofLeaks(Mallometer mallometer) {
    return new Notifications(
        LeakDetectorMXBean.LEAK,
        NativeMemoryMBeans.LEAK_DETECTOR_NAME,
        "A call site has become a leak",
        sender -> mallometer.leaks().onLeak(sender::send));
  }

  static Notifications ofMonitors(Mallometer mallometer) {
    return new Notifications(
        NativeMemoryMXBean.MONITOR,
        NativeMemoryMBeans.NAME,
        "A monitor has seen something",
        sender -> mallometer.monitors().onEvent(sender::send));
  }

  private void send(MonitorEvent event) {
    send(
        numbers.incrementAndGet(),
        event.time(),
        event.sentence(),
        MONITOR.of(
            event.monitor().toString(),
            event.time().toString(),
            event.bytes(),
            String.join("\n", event.details())));
  }

  private void send(HugeAllocation allocation, long missedBefore) {
    send(
        allocation.number(),
        allocation.time(),
        String.format(
            Locale.ROOT,
            "%s requested %.1f MiB",
            allocation.threadName(),
            allocation.bytes() / (double) (1 << 20)),
        REQUEST.of(
            allocation.number(),
            allocation.time().toString(),
            allocation.bytes(),
            allocation.threadId(),
            allocation.threadName(),
            missedBefore));
  }

  private void send(SiteVerdict leak) {
    send(numbers.incrementAndGet(), leak.since(), leak.sentence(), OpenRecords.row(leak));
  }

  private void send(long number, Instant time, String message, CompositeData data) {
    Notification notification =
        new Notification(type, source, number, time.toEpochMilli(), message);
    notification.setUserData(data);
    sendNotification(notification);
  }

  @Override
  public void close() {
    subscription.close();
  }
}
