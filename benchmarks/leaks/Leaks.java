package io.mallometer.benchmarks.leaks;

import static java.lang.invoke.MethodType.methodType;

import com.github.luben.zstd.ZstdCompressCtx;
import com.sun.jna.Function;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import io.mallometer.benchmarks.leaks.Kernels.Block;
import io.mallometer.benchmarks.leaks.Kernels.Kernel;
import io.mallometer.benchmarks.leaks.Kernels.SharedWrapper;
import io.mallometer.benchmarks.leaks.Kernels.Texts;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import org.rocksdb.Env;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.RocksMemEnv;

/**
 * Kernels (pieces of programs) that leak: they keep memory ({@link Leaking}) or lose all pointers to it ({@link
 * Losing}).
 */
final class Leaks {

  private static final byte[] PAGE = Texts.compressible(8192);

  private Leaks() {}

  static final class Leaking {

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

    private Leaking() {}

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

    /** Keeps options of RocksDB, which each caller must close, and never closes them. */
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

    /** Allocates 300 KiB every two minutes and never frees them. */
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

    /** Allocates through a method that a healthy kernel also calls, and never frees the memory. */
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

    /**
     * Keeps entries in a map that compares keys by identity, and creates a new key for each access, so it finds no
     * entry again.
     */
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

  /** Kernels that lose the last pointer to 1 to 3 MB each minute. This memory can be neither used nor freed. */
  static final class Losing {

    static final List<Class<? extends Kernel>> ALL =
        List.of(
            JnaBlocks.class,
            ThroughWrapper.class,
            ManySmall.class,
            UnsafeBlocks.class,
            CStrings.class,
            ForgottenOnError.class,
            ReplacedEntries.class,
            ThreadBuffers.class,
            GrownBuffers.class,
            DroppedReadOptions.class,
            DroppedZstdContexts.class,
            DroppedLists.class);

    private Losing() {}

    static final class JnaBlocks implements Kernel {
      private static final int BYTES = 4096;

      @Override
      public Duration period() {
        return Duration.ofMillis(100);
      }

      @Override
      public void step(Duration age) {
        Block.of(Native.malloc(BYTES), BYTES).filled();
      }
    }

    static final class ThroughWrapper implements Kernel {
      @Override
      public Duration period() {
        return Duration.ofMillis(500);
      }

      @Override
      public void step(Duration age) {
        SharedWrapper.allocate(20_000);
      }
    }

    static final class ManySmall implements Kernel {
      private static final int BYTES = 80;

      @Override
      public Duration period() {
        return Duration.ofMillis(250);
      }

      @Override
      public void step(Duration age) {
        for (int i = 0; i < 100; i++) {
          Block.of(Native.malloc(BYTES), BYTES).filled();
        }
      }
    }

    static final class UnsafeBlocks implements Kernel {
      private static final int BYTES = 16_000;

      private final MethodHandle allocate = allocateMemory();

      @Override
      public Duration period() {
        return Duration.ofMillis(500);
      }

      @Override
      public void step(Duration age) throws Throwable {
        Block.of((long) allocate.invoke((long) BYTES), BYTES).filled();
      }

      private static MethodHandle allocateMemory() {
        try {
          Class<?> unsafe = Class.forName("sun.misc.Unsafe");
          Field field = unsafe.getDeclaredField("theUnsafe");
          field.setAccessible(true);
          return MethodHandles.lookup()
              .findVirtual(unsafe, "allocateMemory", methodType(long.class, long.class))
              .bindTo(field.get(null));
        } catch (ReflectiveOperationException e) {
          throw new IllegalStateException(e);
        }
      }
    }

    /** Calls a C function that allocates strings for its caller, and does not free them. */
    static final class CStrings implements Kernel {
      private final Function strdup = Function.getFunction("c", "strdup");
      private final String text = new String(PAGE, StandardCharsets.US_ASCII);

      @Override
      public Duration period() {
        return Duration.ofMillis(500);
      }

      @Override
      public void step(Duration age) {
        strdup.invokePointer(new Object[] {text});
      }
    }

    /** Fails in each fifth request, and then does not free the memory of the request. */
    static final class ForgottenOnError implements Kernel {
      private static final int BYTES = 16_000;

      private int requests;

      @Override
      public Duration period() {
        return Duration.ofMillis(100);
      }

      @Override
      public void step(Duration age) {
        try {
          Block block = Block.of(Native.malloc(BYTES), BYTES).filled();
          answer();
          block.free();
        } catch (IllegalStateException expected) {
        }
      }

      private void answer() {
        if (++requests % 5 == 0) {
          throw new IllegalStateException("no answer");
        }
      }
    }

    /** Replaces each of 50 entries every 15 s, and does not free the old ones. */
    static final class ReplacedEntries implements Kernel {
      private static final int BYTES = 6000;

      private final Map<Integer, Block> entries = new HashMap<>();
      private int next;

      @Override
      public Duration period() {
        return Duration.ofMillis(300);
      }

      @Override
      public void step(Duration age) {
        entries.put(next++ % 50, Block.of(Native.malloc(BYTES), BYTES).filled());
        entries.values().forEach(Block::read);
      }
    }

    /** Starts threads that end without freeing their buffers. */
    static final class ThreadBuffers implements Kernel {
      private static final int BYTES = 12_000;

      @Override
      public Duration period() {
        return Duration.ofMillis(700);
      }

      @Override
      public void step(Duration age) {
        new Thread(() -> Block.of(Native.malloc(BYTES), BYTES).filled().read()).start();
      }
    }

    /** Lets realloc() enlarge an output buffer, and never frees the buffer. */
    static final class GrownBuffers implements Kernel {
      private static final int MOST = 16_000;

      private final Function realloc = Function.getFunction("c", "realloc");

      @Override
      public Duration period() {
        return Duration.ofSeconds(1);
      }

      @Override
      public void step(Duration age) {
        Pointer buffer = null;
        for (long bytes = 1000; bytes <= MOST; bytes *= 2) {
          buffer = realloc.invokePointer(new Object[] {buffer, bytes});
          buffer.setMemory(0, bytes, (byte) 1);
        }
      }
    }

    /** Creates read options of RocksDB, and neither keeps nor closes them. */
    static final class DroppedReadOptions implements Kernel {
      DroppedReadOptions() {
        RocksDB.loadLibrary();
      }

      @Override
      public Duration period() {
        return Duration.ofMillis(100);
      }

      @Override
      public void step(Duration age) {
        for (int i = 0; i < 20; i++) {
          new ReadOptions().setFillCache(false);
        }
      }
    }

    /**
     * Creates compression contexts, and neither keeps nor closes them. A context is a structure
     * with a table of its own.
     */
    static final class DroppedZstdContexts implements Kernel {
      @Override
      public Duration period() {
        return Duration.ofSeconds(1);
      }

      @Override
      public void step(Duration age) {
        new ZstdCompressCtx().setLevel(1).compress(PAGE);
      }
    }

    /** Loses lists of ten nodes, each of which has the address of the next node. */
    static final class DroppedLists implements Kernel {
      private static final int BYTES = 2000;
      private static final int NODES = 10;

      @Override
      public Duration period() {
        return Duration.ofSeconds(1);
      }

      @Override
      public void step(Duration age) {
        long head = 0;
        for (int i = 0; i < NODES; i++) {
          long node = Block.of(Native.malloc(BYTES), BYTES).filled().address();
          new Pointer(node).setLong(0, head);
          head = node;
        }
      }
    }
  }
}
