package io.mallometer.jmx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.mallometer.FaceContract;
import io.mallometer.FakeMallometer;
import io.mallometer.SitesByHand;
import io.mallometer.model.CallSites;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import javax.management.JMX;
import javax.management.MBeanOperationInfo;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CallSitesMBeanTest {

  private final FakeMallometer mallometer =
      new FakeMallometer(FaceContract.counters(true, Double.NaN), FaceContract.selfReport());
  private final MBeanServer server = MBeanServerFactory.newMBeanServer();
  private final NativeMemoryMBeans beans = NativeMemoryMBeans.register(mallometer, server);
  private final ObjectName name;
  private final CallSitesMXBean bean;

  @TempDir private Path directory;

  CallSitesMBeanTest() throws Exception {
    name = new ObjectName("io.mallometer:type=CallSites");
    bean = JMX.newMXBeanProxy(server, name, CallSitesMXBean.class);
    mallometer.setSites(SitesByHand.three());
  }

  @AfterEach
  void close() {
    beans.close();
    mallometer.close();
  }

  @Test
  void topSitesAndLibrariesAreTablesThatAnyClientUnderstands() throws Exception {
    assertThat((CompositeData[]) server.getAttribute(name, "TopSites"))
        .extracting(row -> row.get("number"), row -> row.get("name"), row -> row.get("library"))
        .containsExactly(
            tuple(7, "com.shop.Cart.zip", "libzip.so"),
            tuple(8, "com.shop.Store.open", "librocksdbjni.so"),
            tuple(9, "com.shop.pdf.Printer.print", "libzip.so"));
    CompositeData largest = ((CompositeData[]) server.getAttribute(name, "TopLibraries"))[0];
    assertThat(largest.get("key")).isEqualTo("libzip.so");
    assertThat(((CompositeData) largest.get("liveBytes")).get("value")).isEqualTo(350_000L);
    assertThat(server.getAttribute(name, "Time")).isEqualTo("2026-01-01T00:00:00Z");
  }

  @Test
  void estimatesCarryTheirIntervals() {
    Row largest = bean.getTopSites().get(0);
    assertThat(largest.get("liveBytes", "value")).isEqualTo(300_000L);
    assertThat(largest.get("liveBytes", "low")).isEqualTo(244_086L);
    assertThat(largest.get("liveBytes", "high")).isEqualTo(368_176L);
    assertThat(largest.get("bytesPerSecond")).isNull();
    assertThat(largest.get("ages", "median")).isEqualTo(10.0);
  }

  @Test
  void whereNothingIsRecordedItSaysWhy() {
    mallometer.setSites(CallSites.none(Instant.EPOCH, "stacks are switched off"));

    assertThat(bean.getReason()).isEqualTo("stacks are switched off");
    assertThat(bean.getTopSites()).isEmpty();
    assertThat(bean.getLiveBySite()).isEmpty();
  }

  @Test
  void groupsAreByAnyKeyInAnyOrderAndNoMoreThanAskedFor() {
    assertThat(bean.groups("library", "live", 10))
        .extracting(group -> group.get("key"), group -> group.get("sites"))
        .containsExactly(tuple("libzip.so", 2), tuple("librocksdbjni.so", 1));
    assertThat(bean.groups("package", "allocated-objects", 1))
        .extracting(group -> group.get("key"))
        .containsExactly("com.shop");
  }

  @Test
  void aStackIsReadInnermostFrameFirst() {
    assertThat(bean.stack(7))
        .containsExactly("libzip.so!allocate+0x1f", "com.shop.Cart.zip(Some.java:12)");
  }

  @Test
  void wrongArgumentsSayWhatIsRight() {
    assertThatThrownBy(() -> bean.groups("colour", "live", 10))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("grouping is 'colour' and must be one of site, library, frame, package");
    assertThatThrownBy(() -> bean.groups("site", "size", 10))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("live, live-objects, allocated, allocated-objects, rate");
    assertThatThrownBy(() -> bean.groups("site", "live", 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("limit is 0 and must be from 1 to 10000");
    assertThatThrownBy(() -> bean.stack(99))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("there is no call site of number 99");
    assertThatThrownBy(() -> bean.export("pprof", "live"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("use exportTo");
    assertThatThrownBy(() -> bean.export("svg", "live"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("collapsed, flamegraph, pprof, dhat, table");
    assertThatThrownBy(() -> bean.exportTo("table", "weight", file().toString()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("live, live-objects, allocated, allocated-objects");
    for (String file : new String[] {"", "a\0b", null}) {
      assertThatThrownBy(() -> bean.exportTo("table", "live", file))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("must be the path of a file");
    }
    assertThatThrownBy(() -> bean.export(null, "live"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("must be one of collapsed");
  }

  @Test
  void aReportIsText() throws Exception {
    assertThat(bean.export("collapsed", "live")).contains("com.shop.Cart.zip", "300000");
  }

  @Test
  void aFileIsNewAndItsOwnersAlone() throws Exception {
    assertThat(bean.exportTo("collapsed", "live", file().toString()))
        .isEqualTo(file() + ", " + Files.size(file()) + " bytes");

    assertThat(Files.readString(file())).isEqualTo(bean.export("collapsed", "live"));
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file())))
        .isEqualTo("rw-------");
  }

  @Test
  void whatExistsIsNotOverwrittenNorIsALinkFollowed() throws Exception {
    Files.writeString(file(), "precious");
    Path link = Files.createSymbolicLink(directory.resolve("link"), directory.resolve("absent"));

    for (Path existing : List.of(file(), link)) {
      assertThatThrownBy(() -> bean.exportTo("collapsed", "live", existing.toString()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage(existing + " exists and is not overwritten");
    }
    assertThat(file()).hasContent("precious");
    assertThat(directory.resolve("absent")).doesNotExist();
  }

  @Test
  void aFileThatCannotBeMadeIsAnError() {
    assertThatThrownBy(() -> bean.exportTo("collapsed", "live", directory + "/no/such/file"))
        .isInstanceOf(IOException.class);
  }

  @Test
  void everyAttributeOperationAndParameterIsDescribed() throws Exception {
    assertThat(server.getMBeanInfo(name).getAttributes())
        .isNotEmpty()
        .allSatisfy(info -> assertThat(info.getDescription()).contains(" "));
    MBeanOperationInfo export =
        Arrays.stream(server.getMBeanInfo(name).getOperations())
            .filter(operation -> operation.getName().equals("exportTo"))
            .findFirst()
            .orElseThrow();
    assertThat(export.getDescription()).contains("only its owner");
    assertThat(export.getSignature())
        .extracting(parameter -> parameter.getName())
        .containsExactly("format", "metric", "file");
    assertThat(export.getSignature()[0].getDescription()).contains("pprof");
  }

  private Path file() {
    return directory.resolve("report");
  }
}
