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

    CompositeData[] verdicts = (CompositeData[]) server.getAttribute(name, "Verdicts");
    assertThat(verdicts)
        .extracting(
            row -> row.get("verdict"), row -> of(row, "site", "name"), row -> row.get("sentence"))
        .startsWith(tuple("leak", "com.shop.Report.render", "com.shop.Report.render keeps memory"))
        .hasSize(4);
    CompositeData leak = verdicts[0];
    assertThat(leak.getCompositeType().getDescription("sentence"))
        .isEqualTo("The verdict in plain words");
    assertThat(of(leak, "suspected", "bytes", "value")).isEqualTo(1_300_000_000L);
    assertThat(bean.getVerdicts().get(0).get("growth", "bytesPerHour")).isEqualTo(1.9e8);
    assertThat(bean.getVerdicts().get(0).getText())
        .contains("verdict: leak", "\n  liveBytes: ", "\n  bytesPerHour: 1.9E8\n");
    assertThat((long) of(leak, "suspected", "bytes", "low"))
        .isBetween(1_000_000_000L, 1_299_999_999L);
    assertThat((long) of(leak, "suspected", "bytes", "high"))
        .isBetween(1_300_000_001L, 1_600_000_000L);
    assertThat(of(leak, "grounds", "lastAccess", "thread")).isEqualTo("worker");
    assertThat((String[]) of(leak, "grounds", "lastAccess", "frames"))
        .containsExactly("a.B.use(B.java:3)");
    assertThat(of(leak, "grounds", "lastWrite", "unavailable"))
        .isEqualTo("perf_event_open is forbidden");
    assertThat(bean.getVerdicts().get(3).get("grounds", "confidence")).as("of a pool").isNull();
    Row observation = bean.getObservation();
    assertThat(observation.get("state")).isEqualTo("on");
    assertThat(observation.get("epochs")).isEqualTo(120L);
    assertThat(observation.get("voidEpochs")).isEqualTo(2L);
    assertThat(observation.get("lostMemory").toString()).endsWith("2 call sites lose memory");
  }

  private static Object of(CompositeData row, String... path) {
    Object value = row;
    for (String name : path) {
      value = ((CompositeData) value).get(name);
    }
    return value;
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

    Notification told = received.poll(60, TimeUnit.SECONDS);
    assertThat(told).isNotNull();
    assertThat(told.getType()).isEqualTo("io.mallometer.leak");
    assertThat(told.getMessage()).isEqualTo("com.shop.Report.render keeps memory");
    CompositeData data = (CompositeData) told.getUserData();
    assertThat(of(data, "site", "name")).isEqualTo("com.shop.Report.render");
    assertThat(of(data, "suspected", "bytes", "value")).isEqualTo(1_300_000_000L);
    assertThat(received.poll(200, TimeUnit.MILLISECONDS)).isNull();
  }
}
