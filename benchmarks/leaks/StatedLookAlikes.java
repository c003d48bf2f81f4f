package io.mallometer.benchmarks.leaks;

import com.sun.jna.Native;
import io.mallometer.benchmarks.leaks.Kernels.Block;
import io.mallometer.benchmarks.leaks.Kernels.Held;
import io.mallometer.benchmarks.leaks.Kernels.Stated;
import io.mallometer.benchmarks.leaks.Kernels.Texts;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.zip.Deflater;

/**
 * Kernels (pieces of programs) that need all the memory they hold. A kernel states how long an
 * object may stay unused, which is 1 to 25 minutes. The memory of two kernels grows without end,
 * but they use all of it.
 */
final class StatedLookAlikes {

  static final List<Class<? extends Stated>> ALL =
      List.of(
          SlidingSessions.class,
          RandomSessions.class,
          RecentlyUsed.class,
          HotCache.class,
          WarmCache.class,
          CoolCache.class,
          ColdCache.class,
          NightlyBatch.class,
          LazyModels.class,
          ConnectionPool.class,
          NettyArenas.class,
          BufferRing.class,
          TenantArenas.class,
          DrainingQueue.class,
          MemoTable.class,
          ScannedEachMinute.class,
          UnboundedCache.class,
          SomeRead.class,
          Retries.class,
          PreparedStatements.class,
          LogSegments.class,
          TrimmedPool.class);

  private static final byte[] PAGE = Texts.compressible(8192);
  private static final int KIB = 1024;
  private static final int MIB = 1024 * KIB;

  private StatedLookAlikes() {}

  private abstract static class Needed extends Stated {
    final Random random = new Random(getClass().getSimpleName().hashCode());

    Needed(Duration longestIdle, double bytesPerMinute) {
      this(Truth.LOOK_ALIKE, longestIdle, bytesPerMinute);
    }

    Needed(Truth truth, Duration longestIdle, double bytesPerMinute) {
      super(truth, longestIdle, bytesPerMinute);
    }

    @Override
    public Duration period() {
      return Duration.ofMillis(500);
    }

    /** Returns a random time, exponentially distributed, but at most {@code longest}. */
    final Duration drawn(Duration mean, Duration longest) {
      Duration drawn =
          Duration.ofMillis((long) (-Math.log(1 - random.nextDouble()) * mean.toMillis()));
      return drawn.compareTo(longest) < 0 ? drawn : longest;
    }
  }

  private static final class Entry {
    private final Held held;
    private Duration due;

    Entry(Held held, Duration due) {
      this.held = held;
      this.due = due;
    }
  }

  private static final class Schedule {
    private final PriorityQueue<Entry> entries =
        new PriorityQueue<>(Comparator.comparing(entry -> entry.due));

    void add(Held held, Duration due) {
      entries.add(new Entry(held, due));
    }

    int size() {
      return entries.size();
    }

    void freeDue(Duration age) throws Exception {
      while (isDue(age)) {
        entries.remove().held.free();
      }
    }

    void useDue(Duration age, java.util.function.Supplier<Duration> next) throws Exception {
      while (isDue(age)) {
        Entry entry = entries.remove();
        entry.held.use();
        entry.due = age.plus(next.get());
        entries.add(entry);
      }
    }

    private boolean isDue(Duration age) {
      return !entries.isEmpty() && entries.peek().due.compareTo(age) <= 0;
    }
  }

  // ---- Sessions

  /** Keeps sessions that end two minutes after their last request. */
  static final class SlidingSessions extends Needed {
    private static final Duration TIMEOUT = Duration.ofMinutes(2);
    private static final int BYTES = 8 * KIB;

    private final Map<Integer, Block> sessions = new LinkedHashMap<>(512, 0.75f, true);
    private final Map<Integer, Duration> until = new HashMap<>();

    SlidingSessions() {
      super(TIMEOUT.plusSeconds(1), 40.0 * BYTES);
    }

    @Override
    public void step(Duration age) {
      int user = random.nextInt(300);
      sessions.computeIfAbsent(user, u -> Block.of(Native.malloc(BYTES), BYTES).filled()).read();
      until.put(user, age.plus(TIMEOUT));
      sessions
          .entrySet()
          .removeIf(
              session -> {
                boolean over = until.get(session.getKey()).compareTo(age) <= 0;
                if (over) {
                  session.getValue().free();
                }
                return over;
              });
    }
  }

  /** Keeps sessions for six minutes on average and 25 minutes at most, and never reads them. */
  static final class RandomSessions extends Needed {
    private static final int BYTES = 12 * KIB;

    private final Schedule sessions = new Schedule();

    RandomSessions() {
      super(Duration.ofMinutes(25), 120.0 * BYTES);
    }

    @Override
    public void step(Duration age) throws Exception {
      Duration length = drawn(Duration.ofMinutes(6), Duration.ofMinutes(25));
      sessions.add(Held.block(Native.malloc(BYTES), BYTES), age.plus(length));
      sessions.freeDue(age);
    }
  }

  // ---- Caches

  /**
   * Keeps 800 entries, three of which are used each second. A new entry replaces the least recently
   * used one.
   */
  static final class RecentlyUsed extends Needed {
    private static final int BYTES = 4 * KIB;

    private final Map<Integer, Block> entries = new LinkedHashMap<>(2048, 0.75f, true);

    RecentlyUsed() {
      super(Duration.ofMinutes(15), 90.0 * BYTES);
    }

    @Override
    public Duration period() {
      return Duration.ofMillis(333);
    }

    @Override
    public void step(Duration age) {
      int key = (int) (5000 * Math.pow(random.nextDouble(), 3));
      entries.computeIfAbsent(key, k -> Block.of(Native.malloc(BYTES), BYTES).filled()).read();
      if (entries.size() > 800) {
        var eldest = entries.entrySet().iterator();
        eldest.next().getValue().free();
        eldest.remove();
      }
    }
  }

  /** Fills a cache and reads each entry at random intervals. */
  private abstract static class RandomlyRead extends Needed {
    private final Schedule entries = new Schedule();
    private final Duration mean;
    private final Duration longest;
    private final int most;

    RandomlyRead(Duration mean, Duration longest, int most, double bytesPerMinute) {
      super(longest, bytesPerMinute);
      this.mean = mean;
      this.longest = longest;
      this.most = most;
    }

    abstract Held make();

    @Override
    public void step(Duration age) throws Exception {
      if (entries.size() < most) {
        entries.add(make(), age.plus(drawn(mean, longest)));
      }
      entries.useDue(age, () -> drawn(mean, longest));
    }
  }

  static final class HotCache extends RandomlyRead {
    HotCache() {
      super(Duration.ofSeconds(10), Duration.ofMinutes(3), 400, 120.0 * 6 * KIB);
    }

    @Override
    Held make() {
      return Held.block(Native.malloc(6 * KIB), 6 * KIB);
    }
  }

  static final class WarmCache extends RandomlyRead {
    WarmCache() {
      super(Duration.ofMinutes(4), Duration.ofMinutes(25), 1500, 120.0 * 5 * KIB);
    }

    @Override
    Held make() {
      return Held.block(Native.malloc(5 * KIB), 5 * KIB);
    }
  }

  static final class CoolCache extends RandomlyRead {
    CoolCache() {
      super(Duration.ofMinutes(12), Duration.ofMinutes(25), 2400, 120.0 * 4 * KIB);
    }

    @Override
    Held make() {
      return Held.buffer(ByteBuffer.allocateDirect(4 * KIB));
    }
  }

  /** Fills a cache for 25 minutes, and reads each entry every 25 minutes. */
  static final class ColdCache extends Needed {
    private static final Duration GAP = Duration.ofMinutes(25);
    private static final int BYTES = 5 * KIB;

    private final Schedule entries = new Schedule();

    ColdCache() {
      super(GAP.plusSeconds(1), 120.0 * BYTES);
    }

    @Override
    public void step(Duration age) throws Exception {
      if (age.compareTo(GAP) < 0) {
        entries.add(Held.block(Native.malloc(BYTES), BYTES), age.plus(GAP));
      }
      entries.useDue(age, () -> GAP);
    }
  }

  // ---- Batches

  /** Accumulates objects; a job every twenty minutes reads and frees them. */
  static final class NightlyBatch extends Needed {
    private static final Duration GAP = Duration.ofMinutes(20);
    private static final int BYTES = 6 * KIB;

    private final List<Block> collected = new ArrayList<>();
    private Duration next = GAP;

    NightlyBatch() {
      super(GAP.plusSeconds(1), 120.0 * BYTES);
    }

    @Override
    public void step(Duration age) {
      collected.add(Block.of(Native.malloc(BYTES), BYTES).filled());
      if (age.compareTo(next) >= 0) {
        collected.forEach(Block::read);
        collected.forEach(Block::free);
        collected.clear();
        next = next.plus(GAP);
      }
    }
  }

  /** Loads ten models of 2 MiB, one every four minutes, and uses each of them sometimes. */
  static final class LazyModels extends Needed {
    private static final Duration LONGEST = Duration.ofMinutes(20);

    private final Schedule models = new Schedule();

    LazyModels() {
      super(LONGEST, MIB / 2.0);
    }

    @Override
    public void step(Duration age) throws Exception {
      if (models.size() < 10 && age.toMinutes() / 4 >= models.size()) {
        Held model = Held.block(Native.malloc(2 * MIB), 2 * MIB);
        models.add(model, age.plus(drawn(Duration.ofMinutes(5), LONGEST)));
      }
      models.useDue(age, () -> drawn(Duration.ofMinutes(5), LONGEST));
    }
  }

  // ---- Pools, rings and arenas

  /**
   * Uses 300 buffers of a pool at a peak every 15 minutes, and only the first thirty between peaks.
   */
  static final class ConnectionPool extends Needed {
    private static final int BYTES = 20 * KIB;

    private final List<Block> pool = new ArrayList<>();

    ConnectionPool() {
      super(Duration.ofMinutes(15), 300.0 / 15 * BYTES);
    }

    @Override
    public void step(Duration age) {
      double share = age.toSeconds() % 900 / 900.0;
      int demand = (int) (30 + 270 * Math.pow(share, 8));
      while (pool.size() < demand) {
        pool.add(Block.of(Native.malloc(BYTES), BYTES).filled());
      }
      for (int i = 0; i < demand; i++) {
        pool.get(i).read();
      }
    }
  }

  /** Uses 400 buffers of a pool in each seventh minute, and 40 buffers in the other minutes. */
  static final class NettyArenas extends Needed {
    private final PooledByteBufAllocator pool = new PooledByteBufAllocator(true);
    private final ArrayDeque<ByteBuf> used = new ArrayDeque<>();

    NettyArenas() {
      super(Duration.ofMinutes(7), 4.0 * MIB);
    }

    @Override
    public void step(Duration age) {
      int wanted = age.toMinutes() % 7 == 6 ? 400 : 40;
      while (used.size() < wanted) {
        used.add(pool.directBuffer(KIB + random.nextInt(48 * KIB)).writeBytes(PAGE));
      }
      while (used.size() > wanted - 5) {
        used.remove().release();
      }
    }
  }

  /** Overwrites 720 buffers in turn, each every twelve minutes. */
  static final class BufferRing extends Needed {
    private static final int BUFFERS = 720;
    private static final int BYTES = 16 * KIB;

    private final List<ByteBuffer> ring = new ArrayList<>();
    private int next;

    BufferRing() {
      super(Duration.ofMinutes(13), 60.0 * BYTES);
    }

    @Override
    public Duration period() {
      return Duration.ofSeconds(1);
    }

    @Override
    public void step(Duration age) {
      if (ring.size() < BUFFERS) {
        ring.add(ByteBuffer.allocateDirect(BYTES));
      }
      ring.get(next).clear().put(PAGE);
      next = (next + 1) % BUFFERS;
    }
  }

  /** Runs twelve tenants in turn for 90 s each; each tenant slowly fills an arena of its own. */
  static final class TenantArenas extends Needed {
    private static final int TENANTS = 12;
    private static final int CHUNKS = 30;
    private static final int BYTES = 64 * KIB;

    private final List<List<Block>> arenas = new ArrayList<>();

    TenantArenas() {
      super(Duration.ofMinutes(18), 10.0 * BYTES);
      for (int i = 0; i < TENANTS; i++) {
        arenas.add(new ArrayList<>());
      }
    }

    @Override
    public Duration period() {
      return Duration.ofSeconds(6);
    }

    @Override
    public void step(Duration age) {
      List<Block> arena = arenas.get((int) (age.toSeconds() / 90 % TENANTS));
      if (arena.size() < CHUNKS) {
        arena.add(Block.of(Native.malloc(BYTES), BYTES).filled());
      }
      arena.forEach(Block::read);
    }
  }

  // ---- Queues and tables

  /**
   * Adds entries to a queue. From minute 15 to minute 30 of every half hour, each addition is
   * followed by the removal of the two oldest entries, which are read and freed.
   */
  static final class DrainingQueue extends Needed {
    private static final int BYTES = 6 * KIB;

    private final ArrayDeque<Block> queue = new ArrayDeque<>();

    DrainingQueue() {
      super(Duration.ofMinutes(16), 120.0 * BYTES);
    }

    @Override
    public void step(Duration age) {
      queue.add(Block.of(Native.malloc(BYTES), BYTES).filled());
      if (age.toMinutes() % 30 >= 15) {
        for (int i = 0; i < 2 && !queue.isEmpty(); i++) {
          Block block = queue.remove();
          block.read();
          block.free();
        }
      }
    }
  }

  /** Fills a table in 20 minutes; each result is needed again after three minutes on average. */
  static final class MemoTable extends RandomlyRead {
    MemoTable() {
      super(Duration.ofMinutes(3), Duration.ofMinutes(20), 2400, 120.0 * 3 * KIB);
    }

    @Override
    Held make() {
      return Held.block(Native.malloc(3 * KIB), 3 * KIB);
    }
  }

  static final class ScannedEachMinute extends Needed {
    private static final int BYTES = 5 * KIB;

    private final List<Block> all = new ArrayList<>();

    ScannedEachMinute() {
      super(Truth.GROWING, Duration.ofMinutes(1), 120.0 * BYTES);
    }

    @Override
    public void step(Duration age) {
      all.add(Block.of(Native.malloc(BYTES), BYTES).filled());
      if (all.size() % 120 == 0) {
        all.forEach(Block::read);
      }
    }
  }

  /** Fills a cache without a bound, whose entries are read every two minutes on average. */
  static final class UnboundedCache extends Needed {
    private static final Duration LONGEST = Duration.ofMinutes(15);
    private static final int BYTES = 5 * KIB;

    private final Schedule entries = new Schedule();

    UnboundedCache() {
      super(Truth.GROWING, LONGEST, 120.0 * BYTES);
    }

    @Override
    public void step(Duration age) throws Exception {
      Duration mean = Duration.ofMinutes(2);
      entries.add(Held.block(Native.malloc(BYTES), BYTES), age.plus(drawn(mean, LONGEST)));
      entries.useDue(age, () -> drawn(mean, LONGEST));
    }
  }

  /** Reads a fifth of the objects all the time. The others are idle until they are freed after ten minutes. */
  static final class SomeRead extends Needed {
    private static final Duration GAP = Duration.ofMinutes(10);
    private static final int BYTES = 8 * KIB;

    private final List<Held> read = new ArrayList<>();
    private final Schedule idle = new Schedule();
    private int made;

    SomeRead() {
      super(GAP.plusSeconds(1), 120.0 * BYTES);
    }

    @Override
    public void step(Duration age) throws Exception {
      Held held = Held.block(Native.malloc(BYTES), BYTES);
      if (++made % 5 == 0) {
        read.add(held);
      } else {
        idle.add(held, age.plus(GAP));
      }
      for (Held one : read) {
        one.use();
      }
      if (read.size() > 200) {
        read.remove(0).free();
      }
      idle.freeDue(age);
    }
  }

  /** Keeps failed requests for another attempt after 2, 6 or 22 minutes, and then frees them. */
  static final class Retries extends Needed {
    private static final int BYTES = 10 * KIB;
    private static final int[] MINUTES = {2, 6, 22};

    private final List<Schedule> attempts = List.of(new Schedule(), new Schedule(), new Schedule());

    Retries() {
      super(Duration.ofMinutes(22).plusSeconds(1), 60.0 * BYTES);
    }

    @Override
    public Duration period() {
      return Duration.ofSeconds(1);
    }

    @Override
    public void step(Duration age) throws Exception {
      Held failed = Held.block(Native.malloc(BYTES), BYTES);
      int attempt = random.nextInt(MINUTES.length);
      attempts.get(attempt).add(failed, age.plusMinutes(MINUTES[attempt]));
      for (Schedule due : attempts) {
        due.freeDue(age);
      }
    }
  }

  /** Keeps 200 prepared statements. Each is executed every five minutes on average, and at least every 14 minutes. */
  static final class PreparedStatements extends Needed {
    private static final Duration LONGEST = Duration.ofMinutes(14);

    private final Connection connection;
    private final Schedule statements = new Schedule();

    PreparedStatements() throws SQLException {
      super(LONGEST, 20.0 * 5 * KIB);
      connection = DriverManager.getConnection("jdbc:sqlite::memory:");
      try (var statement = connection.createStatement()) {
        statement.execute("create table entry (id integer primary key, name text, value real)");
      }
    }

    @Override
    public Duration period() {
      return Duration.ofSeconds(3);
    }

    @Override
    public void step(Duration age) throws Exception {
      Duration mean = Duration.ofMinutes(5);
      if (statements.size() < 200) {
        statements.add(Held.statement(connection), age.plus(drawn(mean, LONGEST)));
      }
      statements.useDue(age, () -> drawn(mean, LONGEST));
    }
  }

  /**
   * Writes a segment of a log each minute. When there are sixteen segments, all are read and freed.
   */
  static final class LogSegments extends Needed {
    private static final int BYTES = 512 * KIB;

    private final List<Block> segments = new ArrayList<>();

    LogSegments() {
      super(Duration.ofMinutes(17), BYTES);
    }

    @Override
    public Duration period() {
      return Duration.ofMinutes(1);
    }

    @Override
    public void step(Duration age) {
      if (segments.size() == 16) {
        segments.forEach(Block::read);
        segments.forEach(Block::free);
        segments.clear();
      }
      segments.add(Block.of(Native.malloc(BYTES), BYTES).filled());
    }
  }

  /**
   * Reuses the compressor that was returned last, and ends compressors that were idle for 15
   * minutes.
   */
  static final class TrimmedPool extends Needed {
    private static final Duration IDLE = Duration.ofMinutes(15);

    private final ArrayDeque<Entry> idle = new ArrayDeque<>();

    TrimmedPool() {
      super(IDLE.plusSeconds(1), 40.0 * 268_000 / 15);
    }

    @Override
    public Duration period() {
      return Duration.ofSeconds(1);
    }

    @Override
    public void step(Duration age) throws Exception {
      int jobs = (int) Math.min(40, 1 - Math.log(1 - random.nextDouble()) * 3);
      List<Entry> busy = new ArrayList<>();
      for (int i = 0; i < jobs; i++) {
        Entry pooled = idle.pollLast();
        busy.add(pooled != null ? pooled : new Entry(Held.deflater(new Deflater(), PAGE), age));
      }
      for (Entry entry : busy) {
        entry.held.use();
        entry.due = age.plus(IDLE);
        idle.add(entry);
      }
      while (idle.peekFirst().due.compareTo(age) <= 0) {
        idle.removeFirst().held.free();
      }
    }
  }
}
