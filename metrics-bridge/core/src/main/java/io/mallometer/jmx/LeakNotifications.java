package io.mallometer.jmx;

import io.mallometer.Mallometer;
import io.mallometer.model.SiteVerdict;
import java.util.concurrent.atomic.AtomicLong;
import javax.management.MBeanNotificationInfo;
import javax.management.Notification;
import javax.management.NotificationBroadcasterSupport;
import javax.management.openmbean.SimpleType;

/**
 * Sends a notification for each site that becomes a leak. Its message is the verdict's sentence;
 * what else it carries is open data.
 */
final class LeakNotifications extends NotificationBroadcasterSupport implements AutoCloseable {

  private static final OpenRow ROW =
      new OpenRow(
          "Leak",
          "A call site that leaks",
          new String[] {"site", "library", "number", "suspectedBytes", "confidence"},
          SimpleType.STRING,
          SimpleType.STRING,
          SimpleType.INTEGER,
          SimpleType.LONG,
          SimpleType.DOUBLE);

  private final AtomicLong sequence = new AtomicLong();
  private final Mallometer.Subscription subscription;

  LeakNotifications(Mallometer mallometer) {
    super(
        new MBeanNotificationInfo(
            new String[] {LeakDetectorMXBean.LEAK},
            Notification.class.getName(),
            "A call site has become a leak"));
    subscription = mallometer.leaks().onLeak(this::send);
  }

  private void send(SiteVerdict leak) {
    Notification notification =
        new Notification(
            LeakDetectorMXBean.LEAK,
            Registration.objectName(NativeMemoryMBeans.LEAK_DETECTOR_NAME),
            sequence.incrementAndGet(),
            leak.since().toEpochMilli(),
            leak.sentence());
    notification.setUserData(
        ROW.of(
            leak.site().name(),
            leak.site().library(),
            leak.site().number(),
            Math.round(leak.suspected().bytes().value()),
            leak.grounds().confidence()));
    sendNotification(notification);
  }

  @Override
  public void close() {
    subscription.close();
  }
}
