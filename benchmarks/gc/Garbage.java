import io.mallometer.Mallometer;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;
import io.mallometer.model.SiteVerdict;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * Makes objects that own native memory, and counts how many of them were made, dropped and
 * collected. Objects that are dropped but not yet collected are the true garbage.
 *
 * <p>The program prints the counts and the call sites after each evaluation of mallometer's leak
 * report. At the end it prints what System.gc() frees. A thread replaces Java objects all the time,
 * so that the JVM collects the old generation.
 */
public final class Garbage {

  private static final long STEP_NANOS = 25_000_000;
  private static final Cleaner CLEANER = Cleaner.create();
  private static final List<Object> HELD = new ArrayList<>();
  private static final ArrayDeque<Object> RECENT = new ArrayDeque<>();
  private static final ReferenceQueue<Object> ENDED = new ReferenceQueue<>();
  private static final Set<Reference<?>> WATCHED = ConcurrentHashMap.newKeySet();
  private static final AtomicLong MADE = new AtomicLong();
  private static final AtomicLong DROPPED = new AtomicLong();
  private static final AtomicLong CLOSED = new AtomicLong();
  private static final AtomicLong COLLECTED = new AtomicLong();
  /** The four counts above as text, stored about every 20 ms and kept for a minute. */
  private static final NavigableMap<Instant, String> BOOKS = new ConcurrentSkipListMap<>();

  private static volatile Object sink;
  private static volatile Reference<?> marked;
  private static volatile int oldCollections;
  private static volatile boolean ended;

  private Garbage() {}

  private static final class Owner {
    private final Inflater inflater = new Inflater();

    Owner() {
      sink = this;
    }

    void close() {
      inflater.end();
    }
  }

  private static Object make(String what) {
    return switch (what) {
      case "deflater" -> new Deflater();
      case "direct" -> ByteBuffer.allocateDirect(32 << 10);
      case "owner" -> new Owner();
      case "cleaner" -> {
        Object owner = new Object();
        Deflater held = new Deflater();
        CLEANER.register(owner, held::end);
        yield owner;
      }
      default -> new Inflater();
    };
  }

  private static void close(Object made) {
    if (made instanceof Inflater) {
      ((Inflater) made).end();
    } else if (made instanceof Deflater) {
      ((Deflater) made).end();
    } else if (made instanceof Owner) {
      ((Owner) made).close();
    }
    CLOSED.incrementAndGet();
  }

  private static void keep(String how, Object made, long step) {
    switch (how) {
      case "dropped" -> DROPPED.incrementAndGet();
      case "closed" -> close(made);
      case "leaked", "list" -> HELD.add(made);
      case "soft" -> HELD.add(new SoftReference<>(made));
      case "weak" -> {
        HELD.add(new WeakReference<>(made));
        DROPPED.incrementAndGet();
      }
      case "half", "tenth" -> {
        if (step % (how.equals("half") ? 2 : 10) == 0) {
          HELD.add(made);
        } else {
          DROPPED.incrementAndGet();
        }
      }
      case "filled" -> {
        if (HELD.size() < 300) {
          HELD.add(made);
        } else {
          close(made);
        }
      }
      default -> {
        int most = how.equals("short") ? 10 : how.equals("lru") ? 1_200 : 400;
        RECENT.add(made);
        if (RECENT.size() > most) {
          Object oldest = RECENT.remove();
          if (how.equals("bounded")) {
            close(oldest);
          } else {
            DROPPED.incrementAndGet();
          }
        }
      }
    }
  }

  /**
   * Counts a made object. A phantom reference reports when the object is collected, except in the
   * modes that close their objects.
   */
  private static void watch(String how, Object made) {
    MADE.incrementAndGet();
    if (!how.equals("closed") && !how.equals("bounded") && !how.equals("filled")) {
      WATCHED.add(new PhantomReference<>(made, ENDED));
    }
  }

  private static void countEnd() {
    try {
      Reference<?> one = ENDED.remove(100);
      if (one != null) {
        WATCHED.remove(one);
        COLLECTED.incrementAndGet();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void noteBooks() {
    Instant now = Instant.now();
    BOOKS.put(now, MADE.get() + " " + CLOSED.get() + " " + DROPPED.get() + " " + COLLECTED.get());
    BOOKS.headMap(now.minusSeconds(60)).clear();
    sleep(20);
  }

  private static void sleep(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static Thread run(String name, Runnable step) {
    Thread thread =
        new Thread(
            () -> {
              while (!ended) {
                step.run();
              }
            },
            name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  /**
   * Makes an object every {@link #STEP_NANOS}. After a delay the loop makes all objects that are
   * due, so a busy machine does not change the rate.
   */
  private static Runnable work(String what, String how) {
    long began = System.nanoTime();
    long[] step = {0};
    return () -> {
      while (!ended && step[0] * STEP_NANOS < System.nanoTime() - began) {
        Object made = make(what);
        watch(how, made);
        keep(how, made, step[0]++);
      }
      sleep(STEP_NANOS / 1_000_000);
    };
  }

  /**
   * Counts a collection of the old generation if it has cleared the weak reference {@code marked}.
   * In that case, and at the first call, {@code marked} becomes a reference to {@code replaced}, an
   * old object that the caller is about to drop.
   */
  private static void countOldCollection(Object replaced) {
    Reference<?> latest = marked;
    if (replaced != null && (latest == null || latest.refersTo(null))) {
      marked = new WeakReference<>(replaced);
      oldCollections += latest == null ? 0 : 1;
    }
  }

  /**
   * Replaces old objects all the time if {@code collects} is true, so that the old generation
   * fills. Otherwise the load only sleeps.
   */
  private static Runnable load(boolean collects) {
    byte[][] ring = new byte[1_500][];
    int[] next = {0};
    return () -> {
      for (int i = 0; collects && i < 20; i++) {
        sink = new byte[16 << 10];
        if (i % 4 == 0) {
          int replaced = next[0]++ % ring.length;
          countOldCollection(ring[replaced]);
          ring[replaced] = new byte[16 << 10];
        }
      }
      sleep(20);
    };
  }

  public static void main(String[] arguments) throws Exception {
    String what = arguments[0];
    String how = arguments[1];
    double seconds = Double.parseDouble(arguments[2]);
    boolean collects = arguments.length < 4;
    double scale = Double.parseDouble(System.getProperty("scale", "6"));
    MallometerOptions options =
        MallometerOptions.defaults()
            .with(Setting.LEAK_TIME_SCALE, scale)
            .with(Setting.POLL_INTERVAL, Duration.ofSeconds(2));
    long began = System.nanoTime();
    try (Mallometer mallometer = Mallometer.open(options)) {
      run("ends", Garbage::countEnd);
      run("books", Garbage::noteBooks);
      Thread load = run("load", load(collects));
      Thread work = run("work", work(what, how));
      Object shown = null;
      while ((System.nanoTime() - began) / 1e9 < seconds) {
        Object latest = mallometer.leaks().report().time();
        if (latest != shown) {
          shown = latest;
          print(mallometer, (System.nanoTime() - began) / 1e9);
        }
        sleep(20);
      }
      ended = true;
      work.join();
      load.join();
      print(mallometer, seconds);
      long before = COLLECTED.get();
      int collections = oldCollections;
      double live = mallometer.poll().process().orElseThrow().liveBytes();
      System.gc();
      for (int i = 0; i < 100; i++) {
        countEnd();
      }
      double after = mallometer.poll().process().orElseThrow().liveBytes();
      System.out.printf("end %.0f %d %d%n", live - after, COLLECTED.get() - before, collections);
    }
  }

  private static void print(Mallometer mallometer, double at) {
    Map.Entry<Instant, String> noted = BOOKS.floorEntry(mallometer.leaks().report().time());
    String books = noted == null ? "0 0 0 0" : noted.getValue();
    for (SiteVerdict site : mallometer.leaks().report().sites()) {
      if (site.site().frames().stream().anyMatch(frame -> frame.owner().equals("Garbage") && frame.name().equals("make"))) {
        SiteVerdict.Garbage garbage = site.grounds().garbage();
        System.out.printf(
            "site %.1f %s %s %.0f %.0f %.0f %.0f %d %.1f %.0f %s | %s%n",
            at,
            site.verdict().tag(),
            garbage.answer().tag(),
            garbage.bytes().value(),
            garbage.bytes().low(),
            garbage.bytes().high(),
            garbage.bytesPerSecond(),
            garbage.oldCollections(),
            garbage.lastOldSeconds(),
            site.growth().liveBytes(),
            books,
            site.sentence());
      }
    }
  }
}
