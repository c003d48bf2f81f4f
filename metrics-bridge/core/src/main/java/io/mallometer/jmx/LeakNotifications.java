package io.mallometer.jmx;

import io.mallometer.Mallometer;
import io.mallometer.model.SiteVerdict;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import javax.management.MBeanNotificationInfo;
import javax.management.Notification;
import javax.management.NotificationBroadcasterSupport;
import javax.management.openmbean.CompositeDataSupport;
import javax.management.openmbean.CompositeType;
import javax.management.openmbean.OpenDataException;
import javax.management.openmbean.OpenType;
import javax.management.openmbean.SimpleType;

/**
 * Sends a notification for each site that becomes a leak. Its message is the verdict's sentence;
 * what else it carries is open data.
 */
final class LeakNotifications extends NotificationBroadcasterSupport implements AutoCloseable {

  private static final String[] NAMES = {
    "site", "library", "number", "suspectedBytes", "confidence"
  };

  private static final CompositeType TYPE = type();

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
    notification.setUserData(data(leak));
    sendNotification(notification);
  }

  @Override
  public void close() {
    subscription.close();
  }

  private static CompositeDataSupport data(SiteVerdict leak) {
    try {
      return new CompositeDataSupport(
          TYPE,
          Map.of(
              "site", leak.site().name(),
              "library", leak.site().library(),
              "number", leak.site().number(),
              "suspectedBytes", Math.round(leak.suspected().bytes().value()),
              "confidence", leak.grounds().confidence()));
    } catch (OpenDataException e) {
      throw new IllegalStateException("the values are those of the type", e);
    }
  }

  private static CompositeType type() {
    try {
      return new CompositeType(
          "Leak",
          "A call site that leaks",
          NAMES,
          NAMES,
          new OpenType<?>[] {
            SimpleType.STRING,
            SimpleType.STRING,
            SimpleType.INTEGER,
            SimpleType.LONG,
            SimpleType.DOUBLE
          });
    } catch (OpenDataException e) {
      throw new IllegalStateException("a constant type is valid", e);
    }
  }
}
