package io.mallometer.benchmarks.leaks;

import io.mallometer.benchmarks.leaks.Kernels.Held;
import io.mallometer.benchmarks.leaks.Kernels.Kernel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.Callable;

/** A kernel that holds memory without accessing it for a time, like programs between two events. */
final class LookAlike implements Kernel {

  /** The ways in which a program uses its objects. */
  enum Habit {
    /** Sessions come all the time; each is freed after its timeout. */
    SESSIONS,
    /** A web cache fills up, then drops its oldest entries; each entry is read sometimes. */
    CACHE,
    /** An index fills up and stays; a scan reads all of it sometimes. */
    SCAN,
    /** Objects are collected until the next batch job reads and frees them. */
    BATCH,
    /** Objects are collected until the next compaction reads them and drops half of them. */
    COMPACTION,
    /** The first half of a phase builds tables, which its end reads and frees. */
    PHASE,
    /** A new configuration replaces the old one. */
    RELOAD,
    /** Collected objects replace those that are read. */
    SWAP,
    /** A pool has the size of the last peak; only the next peak uses all of it. */
    POOL
  }

  /**
   * The time until an object is next used or freed, or until the next event.
   *
   * @param minutes the exact time, or the mean
   * @param random whether the time is exponentially distributed, with a maximum of half an hour
   */
  record Gap(double minutes, boolean random) {

    private static final double LONGEST = 30;

    Duration next(Random by) {
      double drawn = random ? Math.min(LONGEST, -minutes * Math.log(1 - by.nextDouble())) : minutes;
      return Duration.ofMillis((long) (60_000 * drawn));
    }
  }

  /**
   * One look-alike.
   *
   * @param name the name of the method that allocates
   * @param objects the number of objects that come in a gap, or the final number
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

  // ---- New objects

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

  /** Returns the share of all objects that come in this step. */
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

  // ---- Use and frees

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

  /** Uses a hundredth of the objects, so that each is used about once a minute. */
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

  /** Uses as many objects as are needed. The need rises slowly to the peak from a tenth. */
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
