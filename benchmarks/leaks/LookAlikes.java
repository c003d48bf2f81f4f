package io.mallometer.benchmarks.leaks;

import com.sun.jna.Native;
import io.mallometer.benchmarks.leaks.Kernels.Held;
import io.mallometer.benchmarks.leaks.Kernels.Kernel;
import io.mallometer.benchmarks.leaks.Kernels.Texts;
import io.mallometer.benchmarks.leaks.LookAlikes.LookAlike.Gap;
import io.mallometer.benchmarks.leaks.LookAlikes.LookAlike.Habit;
import io.mallometer.benchmarks.leaks.LookAlikes.LookAlike.Plan;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.zip.Deflater;

/**
 * Kernels, small pieces of programs, that look like leaks for a time. A kernel leaves its objects
 * idle for 1 to 30 minutes, and holds about 12 MB. Every kernel allocates in a method of its own,
 * whose name identifies the kernel's call sites.
 */
final class LookAlikes {

  static final List<Plan> ALL =
      List.of(
          new Plan("sessions1", Habit.SESSIONS, exactly(1), 2000, LookAlikes::sessions1),
          new Plan("sessions2", Habit.SESSIONS, exactly(2), 2000, LookAlikes::sessions2),
          new Plan("sessions5", Habit.SESSIONS, exactly(5), 3000, LookAlikes::sessions5),
          new Plan("sessions10", Habit.SESSIONS, exactly(10), 40, LookAlikes::sessions10),
          new Plan("sessions15", Habit.SESSIONS, exactly(15), 300, LookAlikes::sessions15),
          new Plan("sessions20", Habit.SESSIONS, exactly(20), 1330, LookAlikes::sessions20),
          new Plan("sessions30", Habit.SESSIONS, exactly(30), 2930, LookAlikes::sessions30),
          new Plan(
              "sessionsRandom5", Habit.SESSIONS, random(5), 12000, LookAlikes::sessionsRandom5),
          new Plan(
              "sessionsRandom10", Habit.SESSIONS, random(10), 750, LookAlikes::sessionsRandom10),
          new Plan(
              "sessionsRandom20", Habit.SESSIONS, random(20), 90, LookAlikes::sessionsRandom20),
          new Plan("cache3", Habit.CACHE, exactly(3), 120, LookAlikes::cache3),
          new Plan("cache10", Habit.CACHE, exactly(10), 3000, LookAlikes::cache10),
          new Plan("cache20", Habit.CACHE, exactly(20), 4000, LookAlikes::cache20),
          new Plan("cache30", Habit.CACHE, exactly(30), 20000, LookAlikes::cache30),
          new Plan("cacheRandom2", Habit.CACHE, random(2), 500, LookAlikes::cacheRandom2),
          new Plan("cacheRandom5", Habit.CACHE, random(5), 2000, LookAlikes::cacheRandom5),
          new Plan("cacheRandom15", Habit.CACHE, random(15), 90, LookAlikes::cacheRandom15),
          new Plan("cacheRandom30", Habit.CACHE, random(30), 6000, LookAlikes::cacheRandom30),
          new Plan("scan5", Habit.SCAN, exactly(5), 300, LookAlikes::scan5),
          new Plan("scan10", Habit.SCAN, exactly(10), 1330, LookAlikes::scan10),
          new Plan("scan15", Habit.SCAN, exactly(15), 2930, LookAlikes::scan15),
          new Plan("scan20", Habit.SCAN, exactly(20), 730, LookAlikes::scan20),
          new Plan("scan30", Habit.SCAN, exactly(30), 12000, LookAlikes::scan30),
          new Plan("scanRandom10", Habit.SCAN, random(10), 750, LookAlikes::scanRandom10),
          new Plan("scanRandom30", Habit.SCAN, random(30), 120, LookAlikes::scanRandom30),
          new Plan("batch2", Habit.BATCH, exactly(2), 2000, LookAlikes::batch2),
          new Plan("batch5", Habit.BATCH, exactly(5), 20000, LookAlikes::batch5),
          new Plan("batch10", Habit.BATCH, exactly(10), 500, LookAlikes::batch10),
          new Plan("batch15", Habit.BATCH, exactly(15), 730, LookAlikes::batch15),
          new Plan("batch20", Habit.BATCH, exactly(20), 2000, LookAlikes::batch20),
          new Plan("batch30", Habit.BATCH, exactly(30), 90, LookAlikes::batch30),
          new Plan("batchRandom10", Habit.BATCH, random(10), 6000, LookAlikes::batchRandom10),
          new Plan("compaction5", Habit.COMPACTION, exactly(5), 300, LookAlikes::compaction5),
          new Plan("compaction10", Habit.COMPACTION, exactly(10), 730, LookAlikes::compaction10),
          new Plan("compaction20", Habit.COMPACTION, exactly(20), 1330, LookAlikes::compaction20),
          new Plan("compaction30", Habit.COMPACTION, exactly(30), 2930, LookAlikes::compaction30),
          new Plan(
              "compactionRandom3",
              Habit.COMPACTION,
              random(3),
              2000,
              LookAlikes::compactionRandom3),
          new Plan(
              "compactionRandom10",
              Habit.COMPACTION,
              random(10),
              750,
              LookAlikes::compactionRandom10),
          new Plan(
              "compactionRandom20",
              Habit.COMPACTION,
              random(20),
              120,
              LookAlikes::compactionRandom20),
          new Plan("phase3", Habit.PHASE, exactly(3), 2000, LookAlikes::phase3),
          new Plan("phase10", Habit.PHASE, exactly(10), 40, LookAlikes::phase10),
          new Plan("phase20", Habit.PHASE, exactly(20), 20000, LookAlikes::phase20),
          new Plan("phase30", Habit.PHASE, exactly(30), 500, LookAlikes::phase30),
          new Plan("phaseRandom15", Habit.PHASE, random(15), 2000, LookAlikes::phaseRandom15),
          new Plan("reload5", Habit.RELOAD, exactly(5), 6000, LookAlikes::reload5),
          new Plan("reload10", Habit.RELOAD, exactly(10), 300, LookAlikes::reload10),
          new Plan("reload20", Habit.RELOAD, exactly(20), 730, LookAlikes::reload20),
          new Plan("reload30", Habit.RELOAD, exactly(30), 1330, LookAlikes::reload30),
          new Plan("reloadRandom10", Habit.RELOAD, random(10), 2930, LookAlikes::reloadRandom10),
          new Plan("reloadRandom20", Habit.RELOAD, random(20), 90, LookAlikes::reloadRandom20),
          new Plan("swap2", Habit.SWAP, exactly(2), 2000, LookAlikes::swap2),
          new Plan("swap5", Habit.SWAP, exactly(5), 750, LookAlikes::swap5),
          new Plan("swap10", Habit.SWAP, exactly(10), 3000, LookAlikes::swap10),
          new Plan("swap20", Habit.SWAP, exactly(20), 120, LookAlikes::swap20),
          new Plan("swap30", Habit.SWAP, exactly(30), 4000, LookAlikes::swap30),
          new Plan("swapRandom10", Habit.SWAP, random(10), 20000, LookAlikes::swapRandom10),
          new Plan("pool5", Habit.POOL, exactly(5), 500, LookAlikes::pool5),
          new Plan("pool10", Habit.POOL, exactly(10), 40, LookAlikes::pool10),
          new Plan("pool15", Habit.POOL, exactly(15), 2000, LookAlikes::pool15),
          new Plan("pool20", Habit.POOL, exactly(20), 90, LookAlikes::pool20),
          new Plan("pool30", Habit.POOL, exactly(30), 6000, LookAlikes::pool30),
          new Plan("poolRandom5", Habit.POOL, random(5), 300, LookAlikes::poolRandom5),
          new Plan("poolRandom15", Habit.POOL, random(15), 40, LookAlikes::poolRandom15),
          new Plan("poolRandom20", Habit.POOL, random(20), 1330, LookAlikes::poolRandom20));

  private static final byte[] PAGE = Texts.compressible(8192);

  private LookAlikes() {}

  private static Gap exactly(int minutes) {
    return new Gap(minutes, false);
  }

  private static Gap random(int minutes) {
    return new Gap(minutes, true);
  }

  private static final class Database {
    private static final Connection CONNECTION = open();

    private static Connection open() {
      try {
        Connection connection = DriverManager.getConnection("jdbc:sqlite::memory:");
        try (var statement = connection.createStatement()) {
          statement.execute("create table entry (id integer primary key, name text, value real)");
        }
        return connection;
      } catch (SQLException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private static Held sessions1() {
    return Held.block(Native.malloc(6000), 6000);
  }

  private static Held sessions2() {
    return Held.block(Native.malloc(6000), 6000);
  }

  private static Held sessions5() throws SQLException {
    return Held.statement(Database.CONNECTION);
  }

  private static Held sessions10() {
    return Held.deflater(new Deflater(), PAGE);
  }

  private static Held sessions15() {
    return Held.block(Native.malloc(40000), 40000);
  }

  private static Held sessions20() {
    return Held.block(Native.malloc(9000), 9000);
  }

  private static Held sessions30() {
    return Held.block(Native.malloc(4096), 4096);
  }

  private static Held sessionsRandom5() {
    return Held.block(Native.malloc(1000), 1000);
  }

  private static Held sessionsRandom10() {
    return Held.block(Native.malloc(16000), 16000);
  }

  private static Held sessionsRandom20() {
    return Held.zstd(PAGE);
  }

  private static Held cache3() {
    return Held.block(Native.malloc(100000), 100000);
  }

  private static Held cache10() throws SQLException {
    return Held.statement(Database.CONNECTION);
  }

  private static Held cache20() {
    return Held.block(Native.malloc(3000), 3000);
  }

  private static Held cache30() {
    return Held.block(Native.malloc(600), 600);
  }

  private static Held cacheRandom2() {
    return Held.block(Native.malloc(24000), 24000);
  }

  private static Held cacheRandom5() {
    return Held.block(Native.malloc(6000), 6000);
  }

  private static Held cacheRandom15() {
    return Held.zstd(PAGE);
  }

  private static Held cacheRandom30() {
    return Held.block(Native.malloc(2000), 2000);
  }

  private static Held scan5() {
    return Held.block(Native.malloc(40000), 40000);
  }

  private static Held scan10() {
    return Held.block(Native.malloc(9000), 9000);
  }

  private static Held scan15() {
    return Held.block(Native.malloc(4096), 4096);
  }

  private static Held scan20() {
    return Held.buffer(ByteBuffer.allocateDirect(16384));
  }

  private static Held scan30() {
    return Held.block(Native.malloc(1000), 1000);
  }

  private static Held scanRandom10() {
    return Held.block(Native.malloc(16000), 16000);
  }

  private static Held scanRandom30() {
    return Held.block(Native.malloc(100000), 100000);
  }

  private static Held batch2() {
    return Held.block(Native.malloc(6000), 6000);
  }

  private static Held batch5() {
    return Held.block(Native.malloc(600), 600);
  }

  private static Held batch10() {
    return Held.block(Native.malloc(24000), 24000);
  }

  private static Held batch15() {
    return Held.buffer(ByteBuffer.allocateDirect(16384));
  }

  private static Held batch20() {
    return Held.block(Native.malloc(6000), 6000);
  }

  private static Held batch30() {
    return Held.zstd(PAGE);
  }

  private static Held batchRandom10() {
    return Held.block(Native.malloc(2000), 2000);
  }

  private static Held compaction5() {
    return Held.block(Native.malloc(40000), 40000);
  }

  private static Held compaction10() {
    return Held.buffer(ByteBuffer.allocateDirect(16384));
  }

  private static Held compaction20() {
    return Held.block(Native.malloc(9000), 9000);
  }

  private static Held compaction30() {
    return Held.block(Native.malloc(4096), 4096);
  }

  private static Held compactionRandom3() {
    return Held.block(Native.malloc(6000), 6000);
  }

  private static Held compactionRandom10() {
    return Held.block(Native.malloc(16000), 16000);
  }

  private static Held compactionRandom20() {
    return Held.block(Native.malloc(100000), 100000);
  }

  private static Held phase3() {
    return Held.block(Native.malloc(6000), 6000);
  }

  private static Held phase10() {
    return Held.deflater(new Deflater(), PAGE);
  }

  private static Held phase20() {
    return Held.block(Native.malloc(600), 600);
  }

  private static Held phase30() {
    return Held.block(Native.malloc(24000), 24000);
  }

  private static Held phaseRandom15() {
    return Held.block(Native.malloc(6000), 6000);
  }

  private static Held reload5() {
    return Held.block(Native.malloc(2000), 2000);
  }

  private static Held reload10() {
    return Held.block(Native.malloc(40000), 40000);
  }

  private static Held reload20() {
    return Held.buffer(ByteBuffer.allocateDirect(16384));
  }

  private static Held reload30() {
    return Held.block(Native.malloc(9000), 9000);
  }

  private static Held reloadRandom10() {
    return Held.block(Native.malloc(4096), 4096);
  }

  private static Held reloadRandom20() {
    return Held.zstd(PAGE);
  }

  private static Held swap2() {
    return Held.block(Native.malloc(6000), 6000);
  }

  private static Held swap5() {
    return Held.block(Native.malloc(16000), 16000);
  }

  private static Held swap10() throws SQLException {
    return Held.statement(Database.CONNECTION);
  }

  private static Held swap20() {
    return Held.block(Native.malloc(100000), 100000);
  }

  private static Held swap30() {
    return Held.block(Native.malloc(3000), 3000);
  }

  private static Held swapRandom10() {
    return Held.block(Native.malloc(600), 600);
  }

  private static Held pool5() {
    return Held.block(Native.malloc(24000), 24000);
  }

  private static Held pool10() {
    return Held.deflater(new Deflater(), PAGE);
  }

  private static Held pool15() {
    return Held.block(Native.malloc(6000), 6000);
  }

  private static Held pool20() {
    return Held.zstd(PAGE);
  }

  private static Held pool30() {
    return Held.block(Native.malloc(2000), 2000);
  }

  private static Held poolRandom5() {
    return Held.block(Native.malloc(40000), 40000);
  }

  private static Held poolRandom15() {
    return Held.deflater(new Deflater(), PAGE);
  }

  private static Held poolRandom20() {
    return Held.block(Native.malloc(9000), 9000);
  }

  /** A piece of a program that does not access its memory for a time. */
  static final class LookAlike implements Kernel {

    enum Habit {
      /** Sessions begin all the time; each is freed after its timeout. */
      SESSIONS,
      /** A web cache fills up, then drops its oldest entries; each entry is read sometimes. */
      CACHE,
      /** An index fills up and stays; a scan reads all of it sometimes. */
      SCAN,
      /** Objects accumulate until the next batch job reads and frees them. */
      BATCH,
      /** Objects accumulate until the next compaction reads them and drops half of them. */
      COMPACTION,
      /** The first half of a phase builds tables. The end of the phase reads and frees them. */
      PHASE,
      /** A new configuration replaces the old one. */
      RELOAD,
      /** New objects accumulate. At each swap they replace the objects that are being read. */
      SWAP,
      /** A pool keeps all objects of the last peak of demand; only the next peak uses all of them. */
      POOL
    }

    /**
     * A fixed or random time. For {@link Habit#SESSIONS} it is the time until an object is freed,
     * and for {@link Habit#CACHE} the time until an object is used again. For each other {@link
     * Habit} it is the time until the next event, such as a scan.
     *
     * @param minutes the exact time, or the mean
     * @param random whether the time is exponentially distributed, with a maximum of half an hour
     */
    record Gap(double minutes, boolean random) {

      private static final double LONGEST = 30;

      Duration next(Random by) {
        double drawn =
            random ? Math.min(LONGEST, -minutes * Math.log(1 - by.nextDouble())) : minutes;
        return Duration.ofMillis((long) (60_000 * drawn));
      }
    }

    /**
     * Describes one look-alike.
     *
     * @param name the name of the method that allocates
     * @param objects for the habits CACHE, SCAN, RELOAD and POOL, the number of objects when
     *     filled; for the others, the number created in {@code gap.minutes()} minutes
     * @param make allocates an object
     */
    record Plan(String name, Habit habit, Gap gap, int objects, Callable<Held> make) {}

    private static final class Entry {
      private final Held held;
      private Duration due = Duration.ZERO;
      private boolean freed;

      Entry(Held held) {
        this.held = held;
      }

      void free() throws Exception {
        freed = true;
        held.free();
      }
    }

    private static final Duration FILLED_AFTER = Duration.ofMinutes(25);
    private static final Duration LOADED_AFTER = Duration.ofSeconds(40);

    private final Plan plan;
    private final Random random;
    private final PriorityQueue<Entry> due = new PriorityQueue<>(Comparator.comparing(e -> e.due));
    private final List<Entry> fresh = new ArrayList<>();
    private final List<Entry> old = new ArrayList<>();
    private double made;
    private Duration before = Duration.ZERO;
    private Duration begin = Duration.ZERO;
    private Duration event;

    LookAlike(Plan plan) {
      this.plan = plan;
      this.random = new Random(plan.name().hashCode());
      this.event = plan.gap().next(random);
    }

    @Override
    public Duration period() {
      return Duration.ofMillis(500);
    }

    @Override
    public void step(Duration age) throws Exception {
      arrive(age);
      before = age;
      switch (plan.habit()) {
        case SESSIONS, CACHE -> touch(age);
        case SWAP -> useSome(old);
        case RELOAD -> dropReplaced(age);
        case POOL -> meetDemand(share(begin, event, age));
        default -> {}
      }
      if (age.compareTo(event) >= 0) {
        happen();
        begin = event;
        event = age.plus(plan.gap().next(random));
      }
    }

    private static double share(Duration from, Duration to, Duration age) {
      return Math.min(
          1, (double) age.minus(from).toMillis() / Math.max(1, to.minus(from).toMillis()));
    }

    // ---- Creating objects

    private void arrive(Duration age) throws Exception {
      made += plan.objects() * expected(age);
      for (; made >= 1; made--) {
        Entry entry = new Entry(plan.make().call());
        fresh.add(entry);
        if (plan.habit() == Habit.SESSIONS || plan.habit() == Habit.CACHE) {
          entry.due = age.plus(plan.gap().next(random));
          due.add(entry);
        }
      }
    }

    /** Returns the fraction of {@code plan.objects()} that this step has to create. */
    private double expected(Duration age) {
      Duration gap = Duration.ofMillis((long) (60_000 * plan.gap().minutes()));
      return switch (plan.habit()) {
        case SESSIONS, BATCH, COMPACTION, SWAP -> share(before, before.plus(gap), age);
        case CACHE -> share(before, before.plus(FILLED_AFTER), age);
        case SCAN ->
            age.compareTo(FILLED_AFTER) < 0 ? share(before, before.plus(FILLED_AFTER), age) : 0;
        case PHASE -> share(begin, event, age) < 0.5 ? 2 * share(before, before.plus(gap), age) : 0;
        case RELOAD ->
            age.compareTo(begin.plus(LOADED_AFTER)) < 0
                ? share(before, before.plus(LOADED_AFTER), age)
                : 0;
        case POOL -> 0;
      };
    }

    // ---- Using and freeing objects

    private void touch(Duration age) throws Exception {
      while (!due.isEmpty() && due.peek().due.compareTo(age) <= 0) {
        Entry entry = due.remove();
        if (plan.habit() == Habit.SESSIONS) {
          entry.free();
        } else if (!entry.freed) {
          entry.held.use();
          entry.due = age.plus(plan.gap().next(random));
          due.add(entry);
        }
      }
      fresh.removeIf(entry -> entry.freed);
      while (plan.habit() == Habit.CACHE && fresh.size() > plan.objects()) {
        fresh.remove(0).free();
      }
    }

    /**
     * Uses a hundredth of the objects, chosen at random. It runs twice a second, so each object is used about once a
     * minute.
     */
    private void useSome(List<Entry> of) throws Exception {
      for (int i = 0; i < of.size(); i += 100) {
        of.get(random.nextInt(of.size())).held.use();
      }
    }

    private void dropReplaced(Duration age) throws Exception {
      if (age.compareTo(begin.plus(LOADED_AFTER)) >= 0) {
        freeAll(old);
      }
    }

    private void meetDemand(double share) throws Exception {
      int demand = (int) (plan.objects() * (0.1 + 0.9 * share * share));
      while (fresh.size() < demand) {
        fresh.add(new Entry(plan.make().call()));
      }
      for (int i = 0; i < demand; i++) {
        fresh.get(i).held.use();
      }
      if (share > 0.98) {
        useAll(fresh);
      }
    }

    private void happen() throws Exception {
      switch (plan.habit()) {
        case SCAN, POOL -> useAll(fresh);
        case BATCH, PHASE -> {
          useAll(fresh);
          freeAll(fresh);
        }
        case COMPACTION -> {
          useAll(fresh);
          List<Entry> dropped = new ArrayList<>();
          for (int i = fresh.size() - 1; i >= 0; i -= 2) {
            dropped.add(fresh.remove(i));
          }
          freeAll(dropped);
        }
        case RELOAD, SWAP -> {
          freeAll(old);
          old.addAll(fresh);
          fresh.clear();
        }
        default -> {}
      }
    }

    private static void useAll(List<Entry> entries) throws Exception {
      for (Entry entry : entries) {
        entry.held.use();
      }
    }

    private static void freeAll(List<Entry> entries) throws Exception {
      for (Entry entry : entries) {
        entry.free();
      }
      entries.clear();
    }
  }
}
