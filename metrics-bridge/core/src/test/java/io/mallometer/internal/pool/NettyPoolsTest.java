package io.mallometer.internal.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.mallometer.model.CallSite;
import io.mallometer.model.Estimate;
import io.mallometer.model.PoolReport.BufferSite;
import io.mallometer.model.PoolReport.Pool;
import io.mallometer.model.StackFrame;
import java.io.IOException;
import java.lang.module.Configuration;
import java.lang.module.ModuleFinder;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NettyPoolsTest {

  private static final String NETTY = "io.netty";
  private static final int BYTES = 8192;

  @ParameterizedTest
  @CsvSource({
    "4.1.121.Final, io.netty, pooled",
    "4.1.140.Final, io.netty, pooled",
    "4.1.140.Final, io.netty, adaptive",
    "'', io.netty, pooled",
    "'', io.netty, adaptive",
    "4.2.20.Final, io.netty, pooled",
    "4.2.20.Final, io.netty, adaptive",
    "grpc-shaded, io.grpc.netty.shaded.io.netty, pooled"
  })
  void heldBuffersAreNamedWithTheirLineInEachVersion(
      String version, String packageName, String kind) throws Exception {
    try (NettyLoader loader = NettyLoader.of(version)) {
      NettyLoader.Use use = loader.use(packageName, kind).level("PARANOID");
      use.keep(300, BYTES);
      use.release(100);
      use.keepOnHeap(20, BYTES);
      Set<String> before = loader.defined();
      Watched watched = new Watched(loader);

      Pool pool = watched.pool();

      assertThat(pool.reason()).isEmpty();
      assertThat(pool.origin().packageName()).isEqualTo(packageName);
      assertThat(pool.origin().kind()).isEqualTo(kind);
      assertThat(pool.amounts().bytes()).isEqualTo(use.usedDirectMemory());
      assertThat(pool.samplingInterval()).isEqualTo(1);
      BufferSite site = pool.bufferSites().get(0);
      assertThat(site.line()).matches(".*\\.NettyUse\\.keep\\(NettyUse\\.java:\\d+\\)");
      assertThat(site.buffers().value()).isEqualTo(200);
      assertThat(site.bytes().value()).isEqualTo(200.0 * BYTES);
      assertThat(site.tracks().chunks()).isBetween(1, 20);
      if (kind.equals("pooled")) {
        assertThat(pool.amounts().usedBytes()).isBetween(200.0 * BYTES, 310.0 * BYTES);
        assertThat(pool.amounts().usedBytes() - pool.amounts().cachedBytes())
            .isCloseTo(200.0 * BYTES, within(9e4));
        assertThat(pool.amounts().chunks()).isGreaterThanOrEqualTo(site.tracks().chunks());
        assertThat(new double[] {pool.amounts().chunks(), pool.amounts().usedBytes()})
            .containsExactly(use.chunksAndUse()[0], use.chunksAndUse()[1]);
        assertThat(pool.amounts().usedBytes() - pool.amounts().cachedBytes())
            .isEqualTo(use.pinnedDirectMemory());
      }
      assertThat(loader.defined()).as("a look loads no class").isEqualTo(before);
      Reference.reachabilityFence(use);
    }
  }

  @Test
  @Tag("any-jdk")
  void whatTheDetectorSamplesIsWeightedAndHasAnInterval() throws Exception {
    try (NettyLoader loader = NettyLoader.of("")) {
      NettyLoader.Use use = loader.use(NETTY, "pooled");
      use.keep(20_000, 256);

      Watched watched = new Watched(loader);
      Pool pool = watched.pool();

      // 156 buffers are expected to be tracked, with a standard error of 12.5.
      Estimate buffers = pool.bufferSites().get(0).buffers();
      assertThat(pool.samplingInterval()).isEqualTo(128);
      assertThat(watched.pool().samplingInterval()).as("nothing is changed").isEqualTo(128);
      assertThat(buffers.value()).isBetween(20_000 - 6 * 1_600.0, 20_000 + 6 * 1_600.0);
      assertThat(buffers.low()).isBetween(buffers.value() * 0.75, buffers.value() * 0.9);
      assertThat(buffers.high()).isBetween(buffers.value() * 1.1, buffers.value() * 1.35);
      Reference.reachabilityFence(use);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "4.1.121.Final, io.netty",
    "4.1.140.Final, io.netty",
    "4.2.20.Final, io.netty",
    "grpc-shaded, io.grpc.netty.shaded.io.netty"
  })
  @Tag("any-jdk")
  void aSettingLetsTheDetectorTrackMoreBuffersAndEachCountsByItsTime(
      String version, String packageName) throws Exception {
    try (NettyLoader loader = NettyLoader.of(version)) {
      NettyLoader.Use use = loader.use(packageName, "pooled");
      use.keep(20_000, 256);
      Watched watched = new Watched(loader);
      watched.watch().trackNetty(16);
      assertThat(watched.pool().samplingInterval()).isEqualTo(128);
      use.keep(20_000, 256);

      Pool pool = watched.pool();

      // 156 and then 1,250 buffers are expected to be tracked, with standard errors of 12.5 and 35.
      assertThat(pool.samplingInterval()).isEqualTo(16);
      assertThat(pool.bufferSites().get(0).tracks().tracked()).isBetween(1_406 - 220, 1_406 + 220);
      assertThat(pool.bufferSites().get(0).buffers().value())
          .isBetween(40_000 - 6 * 1_700.0, 40_000 + 6 * 1_700.0);
      Reference.reachabilityFence(use);
    }
  }

  @Test
  @Tag("any-jdk")
  void aSettingSwitchesNoDisabledDetectorOn() throws Exception {
    try (NettyLoader loader = NettyLoader.of("")) {
      NettyLoader.Use use = loader.use(NETTY, "pooled").level("DISABLED");
      Watched watched = new Watched(loader);
      watched.watch().trackNetty(16);
      use.keep(2_000, BYTES);
      watched.pool();
      use.level("SIMPLE").keep(1, BYTES);

      assertThat(watched.pool().samplingInterval()).isEqualTo(128);
      Reference.reachabilityFence(use);
    }
  }

  @Test
  @Tag("any-jdk")
  void aDisabledDetectorIsTheReasonAndTheSizesStay() throws Exception {
    try (NettyLoader loader = NettyLoader.of("")) {
      NettyLoader.Use use = loader.use(NETTY, "pooled").level("DISABLED");
      use.keep(100, BYTES);

      Pool pool = new Watched(loader).pool();

      assertThat(pool.reason())
          .isEqualTo("Netty's leak detector is disabled, so no buffer is tracked");
      assertThat(pool.sentence()).endsWith(pool.reason());
      assertThat(pool.bufferSites()).isEmpty();
      assertThat(pool.amounts().bytes()).isEqualTo(use.usedDirectMemory());
    }
  }

  @Test
  void buffersThatWereDroppedWithoutReleaseAreLost() throws Exception {
    try (NettyLoader loader = NettyLoader.of("")) {
      NettyLoader.Use use = loader.use(NETTY, "pooled").level("PARANOID");
      use.keep(50, BYTES);
      Watched watched = new Watched(loader);
      assertThat(watched.pool().bufferSites().get(0).tracks().tracked()).isEqualTo(50);

      use.forget();
      BufferSite site = watched.pool().bufferSites().get(0);
      for (int i = 0; i < 50 && site.tracks().tracked() > 0; i++) {
        System.gc();
        site = watched.pool().bufferSites().get(0);
      }

      assertThat(site.tracks().tracked()).isZero();
      assertThat(site.tracks().releasedLate()).isZero();
      assertThat(site.forgotten().value()).isEqualTo(50);
      assertThat(site.forgottenSentence())
          .matches(
              "50 buffers from NettyUse\\.keep \\(NettyUse\\.java:\\d+\\) were dropped without"
                  + " release; their memory is lost to the pool");
      // Netty removes the trackers of forgotten buffers when it tracks the next buffer.
      use.keep(1, BYTES);
      assertThat(watched.pool().bufferSites().get(0).forgotten().value()).isEqualTo(50);
      Reference.reachabilityFence(use);
    }
  }

  @Test
  @Tag("any-jdk")
  void aHugeBufferCountsWithItsBytesAndKeepsNoChunk() throws Exception {
    try (NettyLoader loader = NettyLoader.of("")) {
      NettyLoader.Use use = loader.use(NETTY, "pooled").level("PARANOID");
      use.keep(1, BYTES);
      Watched watched = new Watched(loader);
      Pool before = watched.pool();
      use.keep(1, 40 << 20);

      Pool pool = watched.pool();

      assertThat(pool.amounts().bytes()).isEqualTo(use.usedDirectMemory());
      assertThat(pool.amounts().bytes() - before.amounts().bytes()).isEqualTo(40 << 20);
      assertThat(pool.amounts().usedBytes() - before.amounts().usedBytes()).isEqualTo(40 << 20);
      assertThat(pool.amounts().cachedBytes()).isEqualTo(before.amounts().cachedBytes());
      assertThat(pool.amounts().chunks()).isEqualTo(before.amounts().chunks());
      assertThat(pool.bufferSites().get(0).tracks().chunks()).isEqualTo(1);
      Reference.reachabilityFence(use);
    }
  }

  @Test
  @Tag("any-jdk")
  void aBufferOfAnEventLoopIsNamedByTheLoop() {
    StackTraceElement thread = new StackTraceElement("java.lang.Thread", "run", "Thread.java", 1);
    StackTraceElement loop = frame("channel.nio.NioEventLoop", "run");
    List<StackTraceElement> own =
        List.of(
            frame("buffer.PooledByteBufAllocator", "newDirectBuffer"),
            loop,
            frame("util.concurrent.SingleThreadEventExecutor$4", "run"),
            thread);
    StackTraceElement handler = new StackTraceElement("com.shop.Store", "keep", "Store.java", 4);
    List<StackTraceElement> handled = List.of(own.get(0), handler, loop, thread);

    assertThat(NettyCopy.callers(NETTY, own)).containsExactly(loop);
    assertThat(NettyCopy.callers(NETTY, handled)).containsExactly(handler, thread);
    assertThat(NettyCopy.callers(NETTY, List.of(own.get(0), thread))).containsExactly(thread);
    assertThat(NettyCopy.callers(NETTY, own.subList(0, 1))).containsExactly(own.get(0));
  }

  private static StackTraceElement frame(String type, String method) {
    return new StackTraceElement(NETTY + "." + type, method, "Netty.java", 1);
  }

  @Test
  void aLoaderThatTheApplicationDroppedIsCollected() throws Exception {
    Watched watched = new Watched();
    // Netty leaves thread-local values that refer to the class loader. So the loader can be
    // collected only after the allocating thread has ended.
    FutureTask<WeakReference<ClassLoader>> use = new FutureTask<>(() -> usedAndDropped(watched));
    Thread thread = new Thread(use);
    thread.start();
    WeakReference<ClassLoader> loader = use.get();
    thread.join();
    watched.forgetLoaders();
    for (int i = 0; i < 50 && !loader.refersTo(null); i++) {
      System.gc();
      System.runFinalization();
    }
    assertThat(loader.refersTo(null)).isTrue();
  }

  private static WeakReference<ClassLoader> usedAndDropped(Watched watched) throws Exception {
    try (NettyLoader loader = NettyLoader.of("")) {
      NettyLoader.Use use = loader.use(NETTY, "pooled").level("PARANOID");
      use.keep(300, BYTES);
      watched.add(loader);
      assertThat(watched.pool().bufferSites()).hasSize(1);
      assertThat(watched.pool().bufferSites().get(0).tracks().tracked()).isEqualTo(300);
      use.release(300);
      return new WeakReference<>(loader);
    }
  }

  @Test
  @Tag("any-jdk")
  void twoCopiesAreTwoPools() throws Exception {
    try (NettyLoader one = NettyLoader.of("");
        NettyLoader other = NettyLoader.of("4.1.140.Final")) {
      NettyLoader.Use ten = one.use(NETTY, "pooled").level("PARANOID");
      NettyLoader.Use twenty = other.use(NETTY, "pooled").level("PARANOID");
      ten.keep(10, BYTES);
      twenty.keep(20, BYTES);

      List<Pool> pools = new Watched(one, other).lookAfter(Duration.ZERO).orElseThrow().pools();

      assertThat(pools).extracting(Pool::reason).containsExactly("", "");
      assertThat(pools)
          .extracting(pool -> pool.bufferSites().get(0).tracks().tracked())
          .containsExactlyInAnyOrder(10, 20);
      Reference.reachabilityFence(ten);
      Reference.reachabilityFence(twenty);
    }
  }

  @Test
  @Tag("any-jdk")
  void theCallSitesOfItsChunksBelongToAPool() throws Exception {
    try (NettyLoader loader = NettyLoader.of("")) {
      NettyLoader.Use use = loader.use(NETTY, "pooled").level("PARANOID");
      use.keep(10, BYTES);
      Watched watched = new Watched(loader);
      watched.add(site(7, "io.netty.buffer.PoolArena$DirectArena", 4_000));
      watched.add(site(8, "io.grpc.netty.shaded.io.netty.buffer.PoolArena$DirectArena", 4_000));
      watched.add(site(9, "io.netty.buffer.PoolArena$DirectArena", 0));

      Pool pool = watched.pool();

      // Site 9 allocates chunks of the pool. It belongs to the pool even without live bytes,
      // because
      // its chunks may have been replaced by chunks of another site.
      assertThat(pool.sites()).containsExactly(7, 9);
      assertThat(pool.siteBytes()).isEqualTo(4_000);
      Reference.reachabilityFence(use);
    }
  }

  private static CallSite site(int number, String owner, double bytes) {
    Estimate live = new Estimate(bytes, 0, 1);
    return new CallSite(
        number,
        List.of(StackFrame.ofJava(owner, "newChunk", "PoolArena.java", 1)),
        "site",
        "[java]",
        1,
        live,
        live,
        live,
        live,
        Double.NaN,
        Double.NaN,
        CallSite.Ages.UNKNOWN);
  }

  // ---- Libraries that only have the class names of Netty

  private static final String BUFFER = "fake.buffer";
  private static final String UTIL = "fake.util";

  @Test
  @Tag("any-jdk")
  void aLibraryOfTheSameClassNamesWithoutTheFieldsIsOffWithAReason(@TempDir Path directory)
      throws Exception {
    Path classes =
        compiled(
            directory,
            "package %s; public class AbstractByteBuf { }".formatted(BUFFER),
            "package %s; public class ResourceLeakDetector { }".formatted(UTIL));
    try (NettyLoader loader = NettyLoader.ofDirectory(classes)) {
      initialize(loader);

      Pool pool = new Watched(loader).pool();

      assertThat(pool.origin().packageName()).isEqualTo("fake");
      assertThat(pool.reason())
          .startsWith("this version of Netty is not known: NoSuchFieldException")
          .contains("leakDetector");
      assertThat(pool.bufferSites()).isEmpty();
    }
  }

  @Test
  @Tag("any-jdk")
  void aLibraryWhoseMembersThrowIsOffWithAReason(@TempDir Path directory) throws Exception {
    Path classes =
        compiled(
            directory,
            "package %s; public class AbstractByteBuf { static fake.util.ResourceLeakDetector leakDetector = new fake.util.ResourceLeakDetector(); }"
                .formatted(BUFFER),
            "package %s; public class ResourceLeakDetector { public enum Level { SIMPLE } public static Level getLevel() { throw new StackOverflowError(); } static Object of = Level.SIMPLE; }"
                .formatted(UTIL));
    try (NettyLoader loader = NettyLoader.ofDirectory(classes)) {
      initialize(loader);

      Pool pool = new Watched(loader).pool();

      assertThat(pool.reason()).contains("StackOverflowError");
    }
  }

  @Test
  @Tag("any-jdk")
  void aLibraryWhoseSizesCannotBeReadSaysSoWithoutABuffer(@TempDir Path directory)
      throws Exception {
    Path classes =
        compiled(
            directory,
            "package %s; public class AbstractByteBuf { static fake.util.ResourceLeakDetector leakDetector = new fake.util.ResourceLeakDetector(); }"
                .formatted(BUFFER),
            "package %s; public class PooledByteBufAllocator { }".formatted(BUFFER),
            "package %s; public class ResourceLeakDetector { public enum Level { SIMPLE } public static Level getLevel() { return Level.SIMPLE; } static Object of = Level.SIMPLE; int samplingInterval = 128; java.util.Set<Object> allLeaks = new java.util.HashSet<>(); }"
                .formatted(UTIL));
    try (NettyLoader loader = NettyLoader.ofDirectory(classes)) {
      initialize(loader);
      Class.forName(BUFFER + ".PooledByteBufAllocator", true, loader);

      Pool pool = new Watched(loader).pool();

      assertThat(pool.origin().kind()).isEqualTo("pooled");
      assertThat(pool.reason()).contains("NoSuchFieldException").contains("DEFAULT");
      assertThat(pool.amounts().bytes()).isNaN();
    }
  }

  @Test
  void aClosedModuleIsOffWithAReason(@TempDir Path directory) throws Exception {
    Path classes =
        compiled(
            directory,
            "module fake { }",
            "package %s; public class AbstractByteBuf { static fake.util.ResourceLeakDetector leakDetector; }"
                .formatted(BUFFER),
            "package %s; public class ResourceLeakDetector { }".formatted(UTIL));
    Configuration configuration =
        ModuleLayer.boot()
            .configuration()
            .resolve(ModuleFinder.of(classes), ModuleFinder.of(), Set.of("fake"));
    ClassLoader loader =
        ModuleLayer.boot()
            .defineModulesWithOneLoader(configuration, ClassLoader.getPlatformClassLoader())
            .findLoader("fake");
    List<Class<?>> found =
        List.of(
            Class.forName("fake.buffer.AbstractByteBuf", true, loader),
            Class.forName("fake.util.ResourceLeakDetector", true, loader));
    NettyPools pools = new NettyPools(stack -> "line");

    List<PoolReading> readings = pools.read(found, new Look(0, 1_000_000_000, System::nanoTime));

    assertThat(readings).hasSize(1);
    assertThat(readings.get(0).reason())
        .startsWith("fake is closed to mallometer")
        .contains("module fake does not open fake.buffer");
  }

  private static void initialize(NettyLoader loader) throws ClassNotFoundException {
    Class.forName(BUFFER + ".AbstractByteBuf", true, loader);
    Class.forName(UTIL + ".ResourceLeakDetector", true, loader);
    try {
      Class.forName(UTIL + ".ResourceLeakDetector$Level", true, loader);
    } catch (ClassNotFoundException e) {
      // A fake library may lack this class.
    }
  }

  private static Path compiled(Path directory, String... sources) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("-d", directory.resolve("out").toString()));
    for (int i = 0; i < sources.length; i++) {
      Matcher type = Pattern.compile("public class (\\w+)").matcher(sources[i]);
      String name = type.find() ? type.group(1) : "module-info";
      Path file = directory.resolve(name + ".java");
      Files.writeString(file, sources[i]);
      arguments.add(file.toString());
    }
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    assertThat(compiler.run(null, null, null, arguments.toArray(String[]::new))).isZero();
    return directory.resolve("out");
  }
}
