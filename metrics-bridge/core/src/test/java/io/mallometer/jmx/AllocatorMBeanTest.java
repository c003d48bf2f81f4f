package io.mallometer.jmx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.mallometer.FaceContract;
import io.mallometer.FakeMallometer;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import java.lang.management.ManagementFactory;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.management.JMX;
import javax.management.MBeanServerConnection;
import javax.management.Notification;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXConnectorServer;
import javax.management.remote.JMXConnectorServerFactory;
import javax.management.remote.JMXServiceURL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AllocatorMBeanTest {

  private final FakeMallometer mallometer =
      new FakeMallometer(FaceContract.counters(true, Double.NaN), FaceContract.selfReport());
  private final NativeMemoryMBeans beans = NativeMemoryMBeans.register(mallometer);
  private final JMXConnectorServer server;
  private final JMXConnector client;
  private final MBeanServerConnection connection;
  private final ObjectName name;

  AllocatorMBeanTest() throws Exception {
    server =
        JMXConnectorServerFactory.newJMXConnectorServer(
            new JMXServiceURL("rmi", "127.0.0.1", 0),
            null,
            ManagementFactory.getPlatformMBeanServer());
    server.start();
    client = JMXConnectorFactory.connect(server.getAddress());
    connection = client.getMBeanServerConnection();
    name = new ObjectName(NativeMemoryMBeans.ALLOCATOR_NAME);
  }

  @BeforeEach
  void isRegistered() {
    assertThat(beans.registered()).isTrue();
  }

  @AfterEach
  void close() throws Exception {
    client.close();
    server.stop();
    beans.close();
    mallometer.close();
  }

  @Test
  void arenasAdviceAndLargeRequestsAreTables() throws Exception {
    mallometer.setAllocator(FaceContract.allocator(7_000));
    mallometer.setHugeAllocations(List.of(allocation(3)));
    mallometer.poll();

    CompositeData statistics = (CompositeData) connection.getAttribute(name, "Statistics");
    assertThat((CompositeData[]) statistics.get("byArena"))
        .extracting(row -> row.get("number"), row -> row.get("usedBytes"))
        .containsExactly(tuple(0L, 40_000L), tuple(1L, 20_000L));
    assertThat((CompositeData[]) statistics.get("advice"))
        .extracting(row -> row.get("setting"))
        .containsExactly("MALLOC_ARENA_MAX=2");
    assertThat((CompositeData[]) connection.getAttribute(name, "HugeAllocations"))
        .extracting(row -> row.get("threadName"))
        .containsExactly("worker-1");
    assertThat(connection.getAttribute(name, "StatisticsAge")).isEqualTo(0.0);
  }

  @Test
  void whatIsUnknownIsNull() throws Exception {
    mallometer.setStatus(new Status(State.UNAVAILABLE, "not preloaded", ""));
    mallometer.poll();

    for (String attribute :
        List.of("Arenas", "SystemBytes", "UsedBytes", "RetainedBytes", "TrimmableBytes", "Trims")) {
      assertThat(connection.getAttribute(name, attribute)).as(attribute).isNull();
    }
    assertThat(connection.getAttribute(name, "Kind")).isEqualTo("unknown");
    assertThat(connection.getAttribute(name, "Statistics")).isNull();
  }

  @Test
  void aTrimSaysWhatBecameOfItAndTheNextIsRefused() throws Exception {
    AllocatorMXBean bean = JMX.newMXBeanProxy(connection, name, AllocatorMXBean.class);

    assertThat(bean.trim().get("outcome")).isEqualTo("DONE");
    Row refused = bean.trim();

    assertThat(refused.get("outcome")).isEqualTo("REFUSED");
    assertThat(refused.get("explanation").toString()).contains("the next is possible in ");
    assertThat(refused.get("nextPossible")).isNotNull();
    assertThat(mallometer.trims()).isEqualTo(1);
  }

  @Test
  void eachLargeRequestIsOneNotificationThatAnyClientUnderstands() throws Exception {
    BlockingQueue<Notification> received = new LinkedBlockingQueue<>();
    connection.addNotificationListener(
        name, (notification, handback) -> received.add(notification), null, null);
    assertThat(connection.getMBeanInfo(name).getNotifications()[0].getNotifTypes())
        .containsExactly("io.mallometer.allocation.huge");

    mallometer.setHugeAllocations(List.of(allocation(3), allocation(4)));
    mallometer.poll();
    mallometer.poll();

    Notification first = received.poll(60, TimeUnit.SECONDS);
    assertThat(first).isNotNull();
    assertThat(first.getType()).isEqualTo("io.mallometer.allocation.huge");
    assertThat(first.getSequenceNumber()).isEqualTo(3);
    assertThat(first.getSource()).isEqualTo(name);
    assertThat(first.getMessage()).isEqualTo("worker-1 requested 128.0 MiB");
    CompositeData data = (CompositeData) first.getUserData();
    assertThat(data.get("bytes")).isEqualTo(128L << 20);
    assertThat(data.get("threadName")).isEqualTo("worker-1");
    assertThat(data.get("time")).isEqualTo("2026-01-01T00:00:03Z");
    assertThat(data.get("missedBefore")).isEqualTo(2L);

    Notification second = received.poll(60, TimeUnit.SECONDS);
    assertThat(second).isNotNull();
    assertThat(second.getSequenceNumber()).isEqualTo(4);
    assertThat(((CompositeData) second.getUserData()).get("missedBefore")).isEqualTo(0L);
    assertThat(received.poll(200, TimeUnit.MILLISECONDS)).isNull();
  }

  private static HugeAllocation allocation(long number) {
    return new HugeAllocation(
        number,
        Instant.parse("2026-01-01T00:00:00Z").plusSeconds(number),
        128 << 20,
        42,
        "worker-1");
  }
}
