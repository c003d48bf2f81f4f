package io.mallometer.benchmarks.jvm;

import com.github.luben.zstd.ZstdCompressCtx;
import com.github.luben.zstd.ZstdDecompressCtx;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import java.util.Random;
import java.util.zip.Deflater;
import org.rocksdb.Env;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksMemEnv;
import org.rocksdb.WriteOptions;

/**
 * Work in the native libraries that Java services load. The amount of a part is the number of
 * repetitions of its smallest unit. Random numbers have fixed seeds, so equal amounts are equal
 * work. The work touches no disk.
 */
final class NativeLoad {
  private static final Map<String, Part> PARTS =
      Map.of(
          "sqlite", NativeLoad::sqlite,
          "zstd", NativeLoad::zstd,
          "rocksdb", NativeLoad::rocksdb,
          "deflate", NativeLoad::deflate,
          "direct", NativeLoad::directBuffers,
          "unsafe", NativeLoad::unsafe);

  /** A part's work. */
  interface Part {
    void run(int amount) throws Exception;
  }

  private NativeLoad() {}

  /**
   * Returns a part by its name.
   *
   * @throws IllegalArgumentException if there is no part of that name
   */
  static Part part(String name) {
    Part part = PARTS.get(name);
    if (part == null) {
      throw new IllegalArgumentException(name + " is not one of " + PARTS.keySet());
    }
    return part;
  }

  /** Inserts rows and reads them, with new statements for each hundred. */
  private static void sqlite(int rows) throws SQLException {
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite::memory:")) {
      connection.setAutoCommit(false);
      try (var statement = connection.createStatement()) {
        statement.execute("create table entry (id integer primary key, name text, value real)");
      }
      for (int first = 0; first < rows; first += 100) {
        insert(connection, first);
        select(connection, first);
      }
    }
  }

  private static void insert(Connection connection, int first) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement("insert into entry (id, name, value) values (?, ?, ?)")) {
      for (int id = first; id < first + 100; id++) {
        insert.setInt(1, id);
        insert.setString(2, "entry number " + id);
        insert.setDouble(3, id * 0.5);
        insert.executeUpdate();
      }
    }
  }

  private static void select(Connection connection, int first) throws SQLException {
    try (PreparedStatement select =
        connection.prepareStatement("select name, value from entry where id >= ? and id < ?")) {
      select.setInt(1, first);
      select.setInt(2, first + 100);
      try (ResultSet found = select.executeQuery()) {
        while (found.next()) {
          consume(found.getString(1).length());
        }
      }
    }
  }

  /** Compresses and decompresses messages of 8 KiB, each in a new context. */
  private static void zstd(int messages) {
    byte[] message = text(8192);
    for (int i = 0; i < messages; i++) {
      try (var compressor = new ZstdCompressCtx();
          var decompressor = new ZstdDecompressCtx()) {
        byte[] compressed = compressor.compress(message);
        consume(decompressor.decompress(compressed, message.length).length);
      }
    }
  }

  /** Puts a value of 100 bytes and gets another one, in a database in memory. */
  private static void rocksdb(int values) throws RocksDBException {
    RocksDB.loadLibrary();
    Random random = new Random(1);
    byte[] value = text(100);
    try (var environment = new RocksMemEnv(Env.getDefault());
        var options =
            new Options()
                .setCreateIfMissing(true)
                .setEnv(environment)
                .setDisableAutoCompactions(true);
        var writing = new WriteOptions().setDisableWAL(true);
        var database = RocksDB.open(options, "/load")) {
      for (int i = 0; i < values; i++) {
        database.put(writing, key(i), value);
        byte[] found = database.get(key(random.nextInt(i + 1)));
        consume(found.length);
      }
    }
  }

  private static byte[] key(int number) {
    return Integer.toString(number).getBytes(StandardCharsets.US_ASCII);
  }

  /** Compresses a page of 16 KiB by a new Deflater. */
  private static void deflate(int pages) {
    byte[] page = text(16384);
    byte[] output = new byte[page.length];
    for (int i = 0; i < pages; i++) {
      Deflater deflater = new Deflater(Deflater.BEST_SPEED);
      deflater.setInput(page);
      deflater.finish();
      consume(deflater.deflate(output));
      deflater.end();
    }
  }

  /**
   * Allocates direct buffers of 256 bytes to 16 KiB. The collector frees those beyond the last 256.
   */
  private static void directBuffers(int buffers) {
    ByteBuffer[] window = new ByteBuffer[256];
    Random random = new Random(2);
    for (int i = 0; i < buffers; i++) {
      ByteBuffer buffer = ByteBuffer.allocateDirect(256 + random.nextInt(16128));
      buffer.put(0, (byte) i);
      window[i % window.length] = buffer;
    }
    consume(window.length);
  }

  /** Allocates and frees 64 to 1,087 bytes: measures only the hook and the allocator. */
  private static void unsafe(int pairs) throws Exception {
    try {
      for (int i = 0; i < pairs; i++) {
        long address = (long) UnsafeMemory.ALLOCATE.invokeExact(64L + (i & 1023));
        UnsafeMemory.FREE.invokeExact(address);
      }
    } catch (Throwable failed) {
      throw new IllegalStateException("sun.misc.Unsafe", failed);
    }
  }

  /**
   * Constant handles compile to direct calls. A direct use of the class would give a compiler
   * warning.
   */
  private static final class UnsafeMemory {
    static final MethodHandle ALLOCATE;
    static final MethodHandle FREE;

    static {
      try {
        Class<?> type = Class.forName("sun.misc.Unsafe");
        Field field = type.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Object unsafe = field.get(null);
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        ALLOCATE = lookup.unreflect(type.getMethod("allocateMemory", long.class)).bindTo(unsafe);
        FREE = lookup.unreflect(type.getMethod("freeMemory", long.class)).bindTo(unsafe);
      } catch (ReflectiveOperationException missing) {
        throw new ExceptionInInitializerError(missing);
      }
    }
  }

  /** Returns a compressible text, the same in each run. */
  private static byte[] text(int bytes) {
    Random random = new Random(3);
    StringBuilder words = new StringBuilder();
    while (words.length() < bytes) {
      words.append(Integer.toString(random.nextInt(1000), 36)).append(' ');
    }
    return words.substring(0, bytes).getBytes(StandardCharsets.US_ASCII);
  }

  private static volatile int consumed;

  private static void consume(int value) {
    consumed = value;
  }
}
