package io.mallometer.jmx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.mallometer.FaceContract;
import io.mallometer.FakeMallometer;
import io.mallometer.VerdictsByHand;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.Notification;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The verdicts as a JMX client sees them. */
class LeakDetectorMBeanTest {

  private final FakeMallometer mallometer =
      new FakeMallometer(FaceContract.counters(true, Double.NaN), FaceContract.selfReport());
  private final MBeanServer server = MBeanServerFactory.newMBeanServer();
  private final NativeMemoryMBeans beans = NativeMemoryMBeans.register(mallometer, server);
  private final ObjectName name;
  private final LeakDetectorMXBean bean;

  LeakDetectorMBeanTest() throws Exception {
    name = new ObjectName(NativeMemoryMBeans.LEAK_DETECTOR_NAME);
    bean = JMX.newMXBeanProxy(server, name, LeakDetectorMXBean.class);
  }

  @AfterEach
  void close() {
    beans.close();
    mallometer.close();
  }

  @Test
  void verdictsAreATable() throws Exception {
    mallometer.setLeaks(VerdictsByHand.four());

    assertThat((CompositeData[]) server.getAttribute(name, "Verdicts"))
        .extracting(row -> row.get("verdict"), row -> row.get("site"), row -> row.get("sentence"))
        .startsWith(tuple("leak", "com.shop.Report.render", "com.shop.Report.render keeps memory"))
        .hasSize(4);
    LeakDetectorMXBean.Site leak = bean.getVerdicts().get(0);
    assertThat(leak.suspectedBytes()).isEqualTo(1_300_000_000L);
    assertThat(leak.growthBytesPerHour()).isEqualTo(190_000_000L);
    assertThat(leak.suspectedBytesLow()).isBetween(1_000_000_000L, 1_299_999_999L);
    assertThat(leak.suspectedBytesHigh()).isBetween(1_300_000_001L, 1_600_000_000L);
    assertThat(leak.lastAccess()).contains("by worker: a.B.use");
    assertThat(leak.lastWrite()).isEqualTo("not available: perf_event_open is forbidden");
    assertThat(bean.getVerdicts().get(3).confidence()).as("of a pool").isNull();
    assertThat(bean.getState()).isEqualTo("on");
    assertThat(bean.getEpochs()).isEqualTo(120);
    assertThat(bean.getVoidEpochs()).isEqualTo(2);
    assertThat(bean.getLostMemory()).endsWith("2 call sites lose memory");
  }

  @Test
  void aStackIsReadByTheNumberOfItsSite() {
    mallometer.setLeaks(VerdictsByHand.four());

    assertThat(bean.stack(388))
        .containsExactly("libzip.so!deflateInit2_+0x1f", "com.shop.Report.render(Some.java:12)");
    assertThatThrownBy(() -> bean.stack(1)).hasMessageContaining("there is no verdict on site 1");
  }

  @Test
  void aSiteIsSaidToBeFineAndThatIsTakenBack() {
    mallometer.setLeaks(VerdictsByHand.four());

    bean.acknowledge("com.shop.Report.*", true);
    assertThat(leaking()).doesNotContain("com.shop.Report.render");
    bean.acknowledge("com.shop.Report.*", false);
    assertThat(leaking()).contains("com.shop.Report.render");
  }

  private List<String> leaking() {
    return mallometer.leaks().report().leaks().stream().map(leak -> leak.site().name()).toList();
  }

  @Test
  void eachSiteThatBecomesALeakIsOneNotificationThatAnyClientUnderstands() throws Exception {
    BlockingQueue<Notification> received = new LinkedBlockingQueue<>();
    server.addNotificationListener(
        name, (notification, handback) -> received.add(notification), null, null);
    assertThat(server.getMBeanInfo(name).getNotifications()[0].getNotifTypes())
        .containsExactly("io.mallometer.leak");

    mallometer.setLeaks(VerdictsByHand.four());
    mallometer.poll();
    mallometer.poll();

    Notification told = received.poll(20, TimeUnit.SECONDS);
    assertThat(told).isNotNull();
    assertThat(told.getType()).isEqualTo("io.mallometer.leak");
    assertThat(told.getMessage()).isEqualTo("com.shop.Report.render keeps memory");
    CompositeData data = (CompositeData) told.getUserData();
    assertThat(data.get("site")).isEqualTo("com.shop.Report.render");
    assertThat(data.get("suspectedBytes")).isEqualTo(1_300_000_000L);
    assertThat(received.poll(200, TimeUnit.MILLISECONDS)).isNull();
  }
}
