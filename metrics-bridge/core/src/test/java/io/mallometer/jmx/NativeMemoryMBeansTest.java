package io.mallometer.jmx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mallometer.FaceContract;
import io.mallometer.FakeMallometer;
import io.mallometer.Logged;
import java.lang.reflect.Method;
import java.util.List;
import java.util.stream.Stream;
import javax.management.JMX;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanFeatureInfo;
import javax.management.MBeanInfo;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NativeMemoryMBeansTest {

  @AutoClose
  private final FakeMallometer mallometer =
      new FakeMallometer(FaceContract.counters(true, Double.NaN), FaceContract.selfReport());

  private final MBeanServer server = MBeanServerFactory.newMBeanServer();
  private ObjectName name = ObjectName.WILDCARD;

  @BeforeEach
  void name() throws Exception {
    name = new ObjectName(NativeMemoryMBeans.NAME);
  }

  public interface StrangerMBean {}

  public static final class Stranger implements StrangerMBean {}

  @Test
  void theSecondWaitsUntilTheFirstIsGone() {
    NativeMemoryMBeans first = NativeMemoryMBeans.register(mallometer, server);
    NativeMemoryMBeans second = NativeMemoryMBeans.register(mallometer, server);
    assertThat(first.registered()).isTrue();
    assertThat(second.registered()).isFalse();

    first.close();
    assertThat(second.registered()).isTrue();

    first.close();
    assertThat(server.isRegistered(name)).isTrue();

    second.close();
    assertThat(server.isRegistered(name)).isFalse();
  }

  @Test
  void whereNoMBeanCanBeMadeTheProgramGoesOn() {
    try (Logged logged = new Logged(NativeMemoryMBeans.class.getName());
        Registration registration =
            Registration.of(
                server,
                NativeMemoryMBeans.NAME,
                () -> {
                  throw new IllegalArgumentException("no metadata for reflection");
                })) {
      assertThat(registration.registered()).isFalse();
      assertThat(server.isRegistered(name)).isFalse();
      assertThat(logged.messages()).hasSize(1);
    }
  }

  @Test
  void somebodyElsesMBeanStays() throws Exception {
    server.registerMBean(new Stranger(), name);
    NativeMemoryMBeans beans = NativeMemoryMBeans.register(mallometer, server);

    beans.close();
    assertThat(server.isInstanceOf(name, Stranger.class.getName())).isTrue();

    server.unregisterMBean(name);
    assertThat(server.isRegistered(name)).isFalse();
  }

  @Test
  void whoeverTookTheNameAfterOursWasUnregisteredKeepsIt() throws Exception {
    NativeMemoryMBeans beans = NativeMemoryMBeans.register(mallometer, server);
    server.unregisterMBean(name);
    server.registerMBean(new Stranger(), name);

    beans.close();

    assertThat(server.isInstanceOf(name, Stranger.class.getName())).isTrue();
  }

  @Test
  void everythingIsDescribedAndFiguresHaveUnits() throws Exception {
    NativeMemoryMBeans.register(mallometer, server);
    MBeanInfo info = server.getMBeanInfo(name);

    assertThat(info.getAttributes())
        .hasSizeGreaterThan(20)
        .allSatisfy(attribute -> assertThat(meaningful(attribute)).isTrue());
    assertThat(info.getOperations())
        .hasSize(5)
        .allSatisfy(operation -> assertThat(meaningful(operation)).isTrue());
    assertThat(info.getAttributes())
        .filteredOn(attribute -> attribute.getName().endsWith("Bytes"))
        .isNotEmpty()
        .allSatisfy(attribute -> assertThat(units(attribute)).isEqualTo("bytes"));
  }

  @Test
  void theSentenceIsTheFirstAttributeByName() throws Exception {
    NativeMemoryMBeans.register(mallometer, server);
    ObjectName diagnosis = new ObjectName(NativeMemoryMBeans.DIAGNOSIS_NAME);

    assertThat(server.getMBeanInfo(diagnosis).getAttributes())
        .extracting(MBeanAttributeInfo::getName)
        .containsExactlyInAnyOrder("Sentence", "State", "ToDo");
    assertThat(server.getAttribute(diagnosis, "Sentence"))
        .isEqualTo(mallometer.snapshot().diagnosis().sentence());
  }

  /** A typed getter throws if its attribute is missing or has another type. */
  @ParameterizedTest
  @ValueSource(
      classes = {
        DiagnosisMXBean.class,
        NativeMemoryMXBean.class,
        AllocatorMXBean.class,
        CallSitesMXBean.class,
        LeakDetectorMXBean.class
      })
  void typedClientsReadEachAttribute(Class<?> contract) throws Exception {
    NativeMemoryMBeans.register(mallometer, server);
    String type = contract.getSimpleName().replace("MXBean", "");
    ObjectName bean = new ObjectName("io.mallometer:type=" + type);
    Object proxy = JMX.newMXBeanProxy(server, bean, contract);
    List<Method> getters =
        Stream.of(contract.getMethods())
            .filter(method -> method.getName().matches("(get|is)[A-Z].*"))
            .toList();

    assertThat(getters)
        .isNotEmpty()
        .allSatisfy(
            getter -> assertThatCode(() -> getter.invoke(proxy)).doesNotThrowAnyException());
    assertThat(server.getMBeanInfo(bean).getDescriptor().getFieldValue("interfaceClassName"))
        .isEqualTo(contract.getName());
  }

  @Test
  void theLastHourIsATable() throws Exception {
    NativeMemoryMBeans.register(mallometer, server);
    mallometer.poll();
    NativeMemoryMXBean bean = JMX.newMXBeanProxy(server, name, NativeMemoryMXBean.class);

    assertThat(bean.getHistory()).isNotEmpty();
    Row latest = bean.getHistory().get(bean.getHistory().size() - 1);
    assertThat(latest.get("liveBytes")).isEqualTo(bean.getLiveBytes());
    assertThat(latest.get("time").toString()).endsWith("Z");
    assertThat(latest.get("limitBytes")).isNull();
    assertThat(bean.getRecording().get("state")).isEqualTo("OFF");
    assertThat(bean.text("Recording")).contains("state: OFF");
    assertThat(bean.text("History")).contains("  liveBytes: " + bean.getLiveBytes());
    assertThatThrownBy(() -> bean.text("Nonsense")).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void theOperationsWorkOnAScopeOfTheirOwn() throws Exception {
    NativeMemoryMBeans.register(mallometer, server);
    NativeMemoryMXBean bean = JMX.newMXBeanProxy(server, name, NativeMemoryMXBean.class);
    assertThat(bean.statistics()).isNull();
    assertThat(bean.unhook()).isNull();

    bean.hook();
    assertThat(bean.statistics().get("calls")).isEqualTo(0L);
    assertThat(bean.unhook().get("netBytes")).isEqualTo(0L);
    assertThat(bean.unhook()).isNull();
    assertThat(bean.statistics()).isNull();
    bean.hook();
    assertThat(bean.getAllocationCount()).isEqualTo(22);

    CompositeData statistics =
        (CompositeData) server.invoke(name, "statistics", new Object[0], new String[0]);
    assertThat(statistics.getCompositeType().keySet())
        .contains("calls", "smallCalls", "largeCalls", "allocatedBytes", "frees", "freedBytes");
  }

  @Test
  void hugePagesAreToldInASentence() throws Exception {
    NativeMemoryMBeans.register(mallometer, server);
    mallometer.poll();
    NativeMemoryMXBean bean = JMX.newMXBeanProxy(server, name, NativeMemoryMXBean.class);
    assertThat(bean.getResident()).isNull();

    mallometer.setMemory(FaceContract.memory(Double.NaN));
    mallometer.poll();
    assertThat(bean.getResident().get("hugePages", "sentence"))
        .isEqualTo("60 kB of the resident set are in transparent huge pages.");
  }

  private static boolean meaningful(MBeanFeatureInfo info) {
    return info.getDescription().contains(" ") && !info.getDescription().equals(info.getName());
  }

  private static Object units(MBeanAttributeInfo attribute) {
    return attribute.getDescriptor().getFieldValue("units");
  }
}
