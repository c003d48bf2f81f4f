package io.mallometer.benchmarks.leaks;

import com.github.luben.zstd.ZstdCompressCtx;
import com.sun.jna.Native;
import io.mallometer.benchmarks.leaks.Held.Block;
import io.mallometer.benchmarks.leaks.Held.SharedWrapper;
import io.mallometer.benchmarks.leaks.Held.Texts;
import io.mallometer.benchmarks.leaks.Kernels.Kernel;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import org.rocksdb.Env;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.RocksMemEnv;

/** Kernels that leak: they keep ever more memory and never access it again. */
final class Leaking {

  static final List<Class<? extends Kernel>> ALL =
      List.of(
          Deflaters.class,
          Inflaters.class,
          ZstdContexts.class,
          RocksOptions.class,
          RocksIterators.class,
          SqliteStatements.class,
          JnaBlocks.class,
          DirectBuffers.class,
          LargeAndRare.class,
          SmallInHotCode.class,
          ThroughWrapper.class,
          LostKeys.class);

  private static final byte[] PAGE = Texts.compressible(8192);

  private Leaking() {}

  /** Deflaters that are kept and never ended. */
  static final class Deflaters implements Kernel {
    private final List<Deflater> kept = new ArrayList<>();
    private final byte[] output = new byte[PAGE.length];

    @Override
    public Duration period() {
      return Duration.ofSeconds(10);
    }

    @Override
    public void step(Duration age) {
      Deflater deflater = new Deflater();
      deflater.setInput(PAGE);
      deflater.finish();
      deflater.deflate(output);
      kept.add(deflater);
    }
  }

  /** Inflaters that are kept and never ended. */
  static final class Inflaters implements Kernel {
    private final List<Inflater> kept = new ArrayList<>();
    private final byte[] input = Texts.deflated(PAGE);
    private final byte[] output = new byte[PAGE.length];

    @Override
    public Duration period() {
      return Duration.ofSeconds(5);
    }

    @Override
    public void step(Duration age) throws DataFormatException {
      Inflater inflater = new Inflater();
      inflater.setInput(input);
      inflater.inflate(output);
      kept.add(inflater);
    }
  }

  /** Compression contexts that are not closed. */
  static final class ZstdContexts implements Kernel {
    private final List<ZstdCompressCtx> kept = new ArrayList<>();

    @Override
    public Duration period() {
      return Duration.ofSeconds(20);
    }

    @Override
    public void step(Duration age) {
      ZstdCompressCtx context = new ZstdCompressCtx().setLevel(1);
      context.compress(PAGE);
      kept.add(context);
    }
  }

  /** RocksDB's options, which each caller must close. */
  static final class RocksOptions implements Kernel {
    private final List<Options> kept = new ArrayList<>();

    RocksOptions() {
      RocksDB.loadLibrary();
    }

    @Override
    public Duration period() {
      return Duration.ofSeconds(2);
    }

    @Override
    public void step(Duration age) {
      kept.add(new Options().setCreateIfMissing(true));
    }
  }

  /** Iterators of a database that stays open. */
  static final class RocksIterators implements Kernel {
    private final List<RocksIterator> kept = new ArrayList<>();
    private final RocksDB database;

    RocksIterators() throws RocksDBException {
      RocksDB.loadLibrary();
      database =
          RocksDB.open(
              new Options().setCreateIfMissing(true).setEnv(new RocksMemEnv(Env.getDefault())),
              "/kernel");
      for (byte i = 0; i < 100; i++) {
        database.put(new byte[] {i}, PAGE);
      }
    }

    @Override
    public Duration period() {
      return Duration.ofSeconds(3);
    }

    @Override
    public void step(Duration age) {
      RocksIterator iterator = database.newIterator();
      iterator.seekToFirst();
      kept.add(iterator);
    }
  }

  /** Statements of a connection that stays open. */
  static final class SqliteStatements implements Kernel {
    private final List<PreparedStatement> kept = new ArrayList<>();
    private final Connection connection;

    SqliteStatements() throws SQLException {
      connection = DriverManager.getConnection("jdbc:sqlite::memory:");
      try (var statement = connection.createStatement()) {
        statement.execute("create table entry (id integer primary key, name text, value real)");
      }
    }

    @Override
    public Duration period() {
      return Duration.ofSeconds(2);
    }

    @Override
    public void step(Duration age) throws SQLException {
      PreparedStatement statement =
          connection.prepareStatement("select name from entry where value > ? order by name");
      statement.setDouble(1, 1);
      statement.executeQuery().next();
      kept.add(statement);
    }
  }

  /** Memory for a C function, never freed. */
  static final class JnaBlocks implements Kernel {
    private static final int BYTES = 1024;

    @Override
    public Duration period() {
      return Duration.ofMillis(500);
    }

    @Override
    public void step(Duration age) {
      Block.of(Native.malloc(BYTES), BYTES).filled();
    }
  }

  /** Direct buffers in a list that is never emptied. */
  static final class DirectBuffers implements Kernel {
    private final List<ByteBuffer> kept = new ArrayList<>();

    @Override
    public Duration period() {
      return Duration.ofSeconds(10);
    }

    @Override
    public void step(Duration age) {
      kept.add(ByteBuffer.allocateDirect(65_536).put(PAGE));
    }
  }

  /** Allocates 300 KiB every two minutes. */
  static final class LargeAndRare implements Kernel {
    private static final int BYTES = 300 * 1024;

    @Override
    public Duration period() {
      return Duration.ofMinutes(2);
    }

    @Override
    public void step(Duration age) {
      Block.of(Native.malloc(BYTES), BYTES).filled();
    }
  }

  /** Allocates 2,000 objects of 40 bytes a second; every tenth is lost. */
  static final class SmallInHotCode implements Kernel {
    private static final int BYTES = 40;

    @Override
    public Duration period() {
      return Duration.ofMillis(500);
    }

    @Override
    public void step(Duration age) {
      for (int i = 0; i < 1000; i++) {
        Block block = Block.of(Native.malloc(BYTES), BYTES).filled();
        if (i % 10 != 0) {
          block.free();
        }
      }
    }
  }

  /** The caller of the shared method that does not free. */
  static final class ThroughWrapper implements Kernel {
    @Override
    public Duration period() {
      return Duration.ofSeconds(1);
    }

    @Override
    public void step(Duration age) {
      SharedWrapper.allocate(2000);
    }
  }

  /** A map whose keys have no equality finds nothing again. */
  static final class LostKeys implements Kernel {
    private static final int BYTES = 4096;

    private final Map<Object, Block> byKey = new IdentityHashMap<>();

    @Override
    public Duration period() {
      return Duration.ofSeconds(1);
    }

    @Override
    public void step(Duration age) {
      Object key = Long.toString(age.toSeconds() % 10);
      byKey.computeIfAbsent(key, k -> Block.of(Native.malloc(BYTES), BYTES).filled());
    }
  }
}
