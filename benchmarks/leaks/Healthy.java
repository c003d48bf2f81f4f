package io.mallometer.benchmarks.leaks;

import com.github.luben.zstd.ZstdCompressCtx;
import com.sun.jna.Native;
import io.mallometer.benchmarks.leaks.Kernels.Block;
import io.mallometer.benchmarks.leaks.Kernels.Kernel;
import io.mallometer.benchmarks.leaks.Kernels.SharedWrapper;
import io.mallometer.benchmarks.leaks.Kernels.Texts;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Kernels (pieces of programs) that keep memory for a reason. Some of them look like a leak for a while. */
final class Healthy {

  static final List<Class<? extends Kernel>> ALL =
      List.of(
          StartUpTables.class,
          NettyPools.class,
          LruCache.class,
          FilledAndRead.class,
          GrowingAndRead.class,
          ArenaRatchet.class,
          ObjectRing.class,
          SlowPool.class,
          ClassLoading.class,
          SteadySql.class,
          MappedFiles.class,
          Sessions.class,
          ThroughWrapper.class);

  private static final byte[] PAGE = Texts.compressible(8192);

  private Healthy() {}

  private static <T> T any(List<T> of, Random random) {
    return of.get(random.nextInt(of.size()));
  }

  /** Builds tables within the first minute, and never reads them later. */
  static final class StartUpTables implements Kernel {
    private static final int BYTES = 3000;

    private final List<Block> tables = new ArrayList<>();

    @Override
    public Duration period() {
      return Duration.ofMillis(200);
    }

    @Override
    public void step(Duration age) {
      if (age.toSeconds() < 60) {
        tables.add(Block.of(Native.malloc(BYTES), BYTES).filled());
      }
    }
  }

  static final class NettyPools implements Kernel {
    private final PooledByteBufAllocator pool = new PooledByteBufAllocator(true);
    private final Random random = new Random(4);
    private final ArrayDeque<ByteBuf> used = new ArrayDeque<>();

    @Override
    public Duration period() {
      return Duration.ofMillis(200);
    }

    @Override
    public void step(Duration age) {
      long wanted = age.toMinutes() % 5 == 4 ? 400 : 50;
      while (used.size() < wanted) {
        used.add(pool.directBuffer(1024 + random.nextInt(64 * 1024)).writeBytes(PAGE));
      }
      while (used.size() > wanted - 10) {
        used.remove().release();
      }
    }
  }

  static final class LruCache implements Kernel {
    private static final int BYTES = 2500;

    private final Map<Integer, Block> entries = new LinkedHashMap<>(512, 0.75f, true);
    private final Random random = new Random(5);

    @Override
    public Duration period() {
      return Duration.ofMillis(500);
    }

    @Override
    public void step(Duration age) {
      int key = (int) Math.abs(random.nextGaussian() * 250);
      Block found = entries.get(key);
      if (found != null) {
        found.read();
        return;
      }
      entries.put(key, Block.of(Native.malloc(BYTES), BYTES).filled());
      if (entries.size() > 300) {
        var eldest = entries.entrySet().iterator();
        eldest.next().getValue().free();
        eldest.remove();
      }
    }
  }

  /** Fills a cache for ten minutes; after that each entry is read every few minutes. */
  static final class FilledAndRead implements Kernel {
    private static final int BYTES = 5000;

    private final List<Block> entries = new ArrayList<>();
    private final Random random = new Random(6);

    @Override
    public Duration period() {
      return Duration.ofSeconds(1);
    }

    @Override
    public void step(Duration age) {
      if (entries.size() < 600) {
        entries.add(Block.of(Native.malloc(BYTES), BYTES).filled());
      }
      for (int i = 0; i < 5; i++) {
        any(entries, random).read();
      }
    }
  }

  /** Fills a cache without a bound and reads its entries. Such growth can be intended. */
  static final class GrowingAndRead implements Kernel {
    private static final int BYTES = 6000;

    private final List<Block> entries = new ArrayList<>();
    private final Random random = new Random(7);

    @Override
    public Duration period() {
      return Duration.ofSeconds(1);
    }

    @Override
    public void step(Duration age) {
      entries.add(Block.of(Native.malloc(BYTES), BYTES).filled());
      for (int i = 0; i < entries.size() / 60 + 1; i++) {
        any(entries, random).read();
      }
    }
  }

  /**
   * Keeps contexts for later jobs. The number of contexts is the largest number of simultaneous
   * jobs so far.
   */
  static final class ArenaRatchet implements Kernel {
    private final List<ZstdCompressCtx> contexts = new ArrayList<>();
    private final Random random = new Random(8);

    @Override
    public Duration period() {
      return Duration.ofSeconds(10);
    }

    @Override
    public void step(Duration age) {
      int jobs = 1 + (int) Math.min(30, -Math.log(random.nextDouble()) * 4);
      while (contexts.size() < jobs) {
        contexts.add(new ZstdCompressCtx().setLevel(1));
      }
      for (int i = 0; i < jobs; i++) {
        contexts.get(i).compress(PAGE);
      }
    }
  }

  /** Keeps the last 600 objects, each idle for ten minutes and then freed. */
  static final class ObjectRing implements Kernel {
    private static final int BYTES = 1500;

    private final ArrayDeque<Block> ring = new ArrayDeque<>();

    @Override
    public Duration period() {
      return Duration.ofSeconds(1);
    }

    @Override
    public void step(Duration age) {
      ring.add(Block.of(Native.malloc(BYTES), BYTES).filled());
      if (ring.size() > 600) {
        ring.remove().free();
      }
    }
  }

  /** Uses all 40 objects of a pool every ten minutes. */
  static final class SlowPool implements Kernel {
    private static final int BYTES = 20_000;

    private final List<Block> pool = new ArrayList<>();
    private long wakes;

    @Override
    public Duration period() {
      return Duration.ofSeconds(5);
    }

    @Override
    public void step(Duration age) {
      if (age.toMinutes() / 10 < wakes) {
        return;
      }
      wakes++;
      while (pool.size() < 40) {
        pool.add(Block.of(Native.malloc(BYTES), BYTES).filled());
      }
      pool.forEach(Block::read);
    }
  }

  static final class ClassLoading implements Kernel {
    private final ArrayDeque<Object> kept = new ArrayDeque<>();
    private final URL[] classes = {
      Healthy.class.getProtectionDomain().getCodeSource().getLocation()
    };

    @Override
    public Duration period() {
      return Duration.ofSeconds(2);
    }

    @Override
    public void step(Duration age) throws Exception {
      URLClassLoader loader = new URLClassLoader(classes, null);
      Class<?> type = loader.loadClass(Quiet.class.getName());
      kept.add(Proxy.newProxyInstance(loader, type.getInterfaces(), (p, m, a) -> null));
      if (kept.size() > 30) {
        kept.remove();
      }
    }

    /**
     * The class that is loaded. Its interface belongs to the JDK, so the class loader needs no
     * other class.
     */
    static final class Quiet implements Runnable {
      @Override
      public void run() {}
    }
  }

  static final class SteadySql implements Kernel {
    private final Connection connection;

    SteadySql() throws SQLException {
      connection = DriverManager.getConnection("jdbc:sqlite::memory:");
      try (var statement = connection.createStatement()) {
        statement.execute("create table entry (id integer primary key, name text)");
      }
    }

    @Override
    public Duration period() {
      return Duration.ofMillis(100);
    }

    @Override
    public void step(Duration age) throws SQLException {
      try (var insert =
          connection.prepareStatement("insert or replace into entry (id, name) values (?, ?)")) {
        insert.setLong(1, age.toSeconds() % 1000);
        insert.setString(2, "entry of " + age);
        insert.executeUpdate();
      }
      try (var select = connection.prepareStatement("select name from entry where id < ?")) {
        select.setLong(1, 10);
        try (var found = select.executeQuery()) {
          while (found.next()) {
            found.getString(1);
          }
        }
      }
    }
  }

  /** Maps a file again and again. The collector unmaps the buffers that are dropped. */
  static final class MappedFiles implements Kernel {
    private final ArrayDeque<MappedByteBuffer> mapped = new ArrayDeque<>();
    private final Path file;

    MappedFiles() throws IOException {
      file = Files.createTempFile("mallometer-kernel", ".bin");
      file.toFile().deleteOnExit();
      Files.write(file, new byte[1 << 20]);
    }

    @Override
    public Duration period() {
      return Duration.ofSeconds(2);
    }

    @Override
    public void step(Duration age) throws IOException {
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
        MappedByteBuffer buffer = channel.map(FileChannel.MapMode.READ_ONLY, 0, 1 << 20);
        buffer.get(0);
        mapped.add(buffer);
      }
      if (mapped.size() > 20) {
        mapped.remove();
      }
    }
  }

  /** Keeps sessions for some minutes, and reads the memory of a session only when the session ends. */
  static final class Sessions implements Kernel {
    private static final int BYTES = 9000;

    private final List<Block> open = new ArrayList<>();
    private final Random random = new Random(9);

    @Override
    public Duration period() {
      return Duration.ofSeconds(1);
    }

    @Override
    public void step(Duration age) {
      long seconds = (long) (-Math.log(random.nextDouble()) * 240);
      open.add(new Block(Native.malloc(BYTES), BYTES, age.plusSeconds(seconds)).filled());
      open.removeIf(
          block -> {
            boolean over = block.until().compareTo(age) <= 0;
            if (over) {
              block.free();
            }
            return over;
          });
    }
  }

  /** Allocates through a method that a leaking kernel also calls, and frees the memory. */
  static final class ThroughWrapper implements Kernel {
    private final ArrayDeque<Block> kept = new ArrayDeque<>();

    @Override
    public Duration period() {
      return Duration.ofSeconds(1);
    }

    @Override
    public void step(Duration age) {
      kept.add(SharedWrapper.allocate(2000));
      if (kept.size() > 100) {
        kept.remove().free();
      }
    }
  }
}
