package io.mallometer.preload;

import com.sun.jna.Callback;
import com.sun.jna.Library;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import io.mallometer.Mallometer;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;
import io.mallometer.model.StackFrame;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;

/**
 * A program with stacks that are hard to walk. At the same time it loads and unloads classes,
 * starts platform and virtual threads, deoptimises methods, throws exceptions through native frames
 * and overflows stacks. It ends while this work continues.
 */
public final class SitesUnderStress {

  static final int EXIT_CODE = 42;
  static final int KEPT_CLASSES = 5;

  private static final int PAUSE_MILLIS = 20;

  /** Whether the work pauses, so that the observations take their own CPU time only. */
  private static volatile boolean pauses;

  /** Whether a thread has worked since the end of the pause. */
  private static volatile boolean works;

  private static volatile int sink;
  private static volatile IntUnaryOperator operator = size -> size;

  private SitesUnderStress() {}

  /**
   * Runs the program. The arguments are the number of seconds, and the way to end: "return", "exit"
   * or "halt".
   */
  public static void main(String[] arguments) throws Exception {
    Mallometer mallometer =
        Mallometer.open(
            MallometerOptions.defaults().with(Setting.POLL_INTERVAL, Duration.ofMillis(200)));
    System.out.println("state=" + mallometer.status().state());
    Supplier<String> other = TwoClassLoaders.inAnotherClassLoader(Copy.class);
    List<WeakReference<ClassLoader>> unloaded = allocateInClassesThatLiveASecond(mallometer);
    startEverything();
    long half = Long.parseLong(arguments[0]) * 1_000_000_000L / 2;
    letItRun(mallometer, half, List.of());
    double footprint = mallometer.poll().self().footprintBytes();
    letItRun(mallometer, half, unloaded);
    String sitesOfTheOther = other.get();
    pauses = true;
    CallSites sites = mallometer.sites().read();
    System.out.println("sites=" + sites.sites().size());
    System.out.println("samples=" + sites.samples());
    System.out.println("dropped=" + sites.dropped());
    System.out.println("reason=" + sites.reason());
    System.out.println("java=" + hasJavaFrames(sites));
    System.out.println("other " + sitesOfTheOther);
    System.out.println("gone=" + gone(unloaded));
    System.out.println("named=" + namesOfWhatLivedASecond(sites));
    System.out.println("grown=" + (mallometer.poll().self().footprintBytes() - footprint));
    System.out.println("held " + held());
    works = false;
    pauses = false;
    while (!works) {
      Thread.sleep(PAUSE_MILLIS);
    }
    System.out.println("done");
    end(arguments[1]);
  }

  static void startEverything() {
    start("classes", SitesUnderStress::loadAndUnload);
    start("classes too", SitesUnderStress::loadAndUnload);
    start("threads", SitesUnderStress::startThreads);
    start("virtual threads", SitesUnderStress::startVirtualThreads);
    start("deoptimised", SitesUnderStress::deoptimise);
    start("exceptions", SitesUnderStress::throwThroughNativeFrames);
    start("deep", SitesUnderStress::runOutOfStack);
  }

  private static void letItRun(
      Mallometer mallometer, long nanos, List<WeakReference<ClassLoader>> unloaded)
      throws Exception {
    long begin = System.nanoTime();
    long ran = 0;
    while (ran < nanos || gone(unloaded) < unloaded.size() && ran < nanos + 10_000_000_000L) {
      Thread.sleep(200);
      mallometer.sites().read();
      System.gc();
      ran = System.nanoTime() - begin;
    }
  }

  private static long gone(List<WeakReference<ClassLoader>> loaders) {
    return loaders.stream().filter(loader -> loader.get() == null).count();
  }

  private static void end(String how) throws Exception {
    switch (how) {
      case "exit" -> {
        Runtime.getRuntime().addShutdownHook(new Thread(SitesUnderStress::compress));
        Thread thread = new Thread(() -> System.exit(EXIT_CODE));
        thread.start();
        thread.join();
      }
      case "halt" -> Runtime.getRuntime().halt(EXIT_CODE);
      default -> {}
    }
  }

  private static void start(String name, Runnable forever) {
    Thread thread =
        new Thread(
            () -> {
              while (true) {
                if (pauses) {
                  sleep(PAUSE_MILLIS);
                } else {
                  forever.run();
                  works = true;
                }
              }
            },
            name);
    thread.setDaemon(true);
    thread.start();
  }

  // ---- Observations

  static boolean hasJavaFrames(CallSites sites) {
    return sites.sites().stream()
        .flatMap(site -> site.frames().stream())
        .anyMatch(frame -> frame.kind() == StackFrame.Kind.JAVA && frame.line() > 0);
  }

  private static long namesOfWhatLivedASecond(CallSites sites) {
    return sites.sites().stream()
        .filter(site -> site.liveBytes().value() >= LivedASecond.BYTES)
        .filter(SitesUnderStress::isOfWhatLivedASecond)
        .count();
  }

  private static boolean isOfWhatLivedASecond(CallSite site) {
    return site.frames().stream()
        .anyMatch(
            frame ->
                frame.owner().equals(LivedASecond.class.getName())
                    && frame.name().equals("applyAsInt"));
  }

  /**
   * Returns the number of instances of three classes. A heap histogram may include garbage, because
   * a JNI critical section can prevent its collection. The lowest number of three histograms is
   * therefore used.
   */
  private static String held() throws Exception {
    List<String> looks = List.of(histogram(), histogram(), histogram());
    StringBuilder held = new StringBuilder();
    for (String name :
        List.of(
            "io.mallometer.internal.symbol.RecordedMethod",
            "io.mallometer.internal.symbol.RecordedModule",
            "[Lio.mallometer.model.StackFrame;")) {
      long least = looks.stream().mapToLong(look -> count(name, look)).min().orElseThrow();
      held.append(name.replaceAll(".*\\.|\\W", "").toLowerCase(Locale.ROOT));
      held.append('=').append(least).append(' ');
    }
    return held.toString().strip();
  }

  private static String histogram() throws Exception {
    return (String)
        ManagementFactory.getPlatformMBeanServer()
            .invoke(
                new ObjectName("com.sun.management:type=DiagnosticCommand"),
                "gcClassHistogram",
                new Object[] {new String[0]},
                new String[] {String[].class.getName()});
  }

  private static long count(String className, String histogram) {
    Matcher line =
        Pattern.compile("(?m) (\\d+) +\\d+ +" + Pattern.quote(className) + "(?: |$)")
            .matcher(histogram);
    long count = 0;
    while (line.find()) {
      count += Long.parseLong(line.group(1));
    }
    return count;
  }

  // ---- A second copy of the bridge

  public static final class Copy implements Supplier<String> {
    private final Mallometer mallometer = Mallometer.open();

    @Override
    public String get() {
      CallSites sites = mallometer.sites().read();
      return "java=" + hasJavaFrames(sites) + " sites=" + sites.sites().size();
    }
  }

  // ---- Classes

  private static final class Forgotten extends ClassLoader {
    Forgotten() {
      super(SitesUnderStress.class.getClassLoader());
    }

    IntUnaryOperator load(Class<?> original) {
      String name = original.getName();
      try (InputStream file = original.getResourceAsStream(original.getSimpleName() + ".class")) {
        byte[] bytes = file.readAllBytes();
        return (IntUnaryOperator)
            defineClass(name, bytes, 0, bytes.length).getDeclaredConstructor().newInstance();
      } catch (Exception e) {
        throw new AssertionError(e);
      }
    }
  }

  private static List<WeakReference<ClassLoader>> allocateInClassesThatLiveASecond(
      Mallometer mallometer) throws Exception {
    mallometer.sites().read();
    List<WeakReference<ClassLoader>> references = new ArrayList<>();
    List<@Nullable IntUnaryOperator> kept = new ArrayList<>();
    for (int i = 0; i < KEPT_CLASSES; i++) {
      Forgotten loader = new Forgotten();
      references.add(new WeakReference<>(loader));
      IntUnaryOperator loaded = loader.load(LivedASecond.class);
      sink += loaded.applyAsInt(0);
      kept.add(loaded);
    }
    Thread.sleep(1_100);
    kept.clear();
    return references;
  }

  private static void loadAndUnload() {
    IntUnaryOperator loaded = new Forgotten().load(ShortLived.class);
    for (int size = 1; size < 200; size += 40) {
      sink += loaded.applyAsInt(size);
    }
    operator = loaded;
  }

  // ---- Threads

  private static void compress() {
    sink += new ShortLived().applyAsInt(100);
    try (Memory memory = new Memory(5_000)) {
      sink += memory.getByte(0);
    }
  }

  private static void startThreads() {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Thread thread = new Thread(SitesUnderStress::compress);
      thread.start();
      threads.add(thread);
    }
    threads.forEach(SitesUnderStress::join);
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static final @Nullable Method START_VIRTUAL = startVirtual();

  private static @Nullable Method startVirtual() {
    try {
      return Runtime.version().feature() < 21
          ? null
          : Thread.class.getMethod("startVirtualThread", Runnable.class);
    } catch (NoSuchMethodException e) {
      return null;
    }
  }

  private static void startVirtualThreads() {
    if (START_VIRTUAL == null) {
      startThreads();
      return;
    }
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      try {
        Runnable work =
            () -> {
              compress();
              Thread.yield();
              compress();
              sleep(1);
              compress();
            };
        threads.add((Thread) START_VIRTUAL.invoke(null, work));
      } catch (ReflectiveOperationException e) {
        throw new AssertionError(e);
      }
    }
    threads.forEach(SitesUnderStress::join);
  }

  private static void sleep(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  // ---- Deoptimisation: a new class reaches code that was compiled for earlier ones

  private static void deoptimise() {
    for (int i = 0; i < 20_000; i++) {
      sink += compiled(i);
    }
    sink += operator.applyAsInt(10);
  }

  private static int compiled(int i) {
    IntUnaryOperator current = i % 1_000 == 0 ? operator : size -> size + 1;
    if (i % 500 == 0) {
      NativeWork.freeMemory(NativeWork.allocateMemory(100 + i % 7));
    }
    return current.applyAsInt(i % 100);
  }

  // ---- Exceptions

  public interface Sort extends Library {
    interface Comparison extends Callback {
      int compare(Pointer a, Pointer b);
    }

    void qsort(Pointer base, long count, long size, Comparison comparison);
  }

  private static final Sort SORT = Native.load("c", Sort.class);

  static {
    Native.setCallbackExceptionHandler((callback, thrown) -> sink += thrown.hashCode());
  }

  private static void throwThroughNativeFrames() {
    Sort.Comparison comparison =
        (a, b) -> {
          compress();
          if (ThreadLocalRandom.current().nextBoolean()) {
            throw new IllegalStateException("thrown into native code");
          }
          return 0;
        };
    try (Memory numbers = new Memory(64)) {
      SORT.qsort(numbers, 8, 8, comparison);
    }
    try {
      SitesUnderStress.class.getDeclaredMethod("fails").invoke(null);
    } catch (ReflectiveOperationException e) {
      sink += e.hashCode();
    }
  }

  static void fails() {
    compress();
    throw new IllegalStateException("thrown through reflection");
  }

  private static void runOutOfStack() {
    Thread thread =
        new Thread(
            null,
            () -> {
              try {
                sink += deep(1);
              } catch (StackOverflowError e) {
                sink++;
              }
            },
            "deep",
            256 << 10);
    thread.start();
    join(thread);
    sleep(5);
  }

  private static int deep(int depth) {
    if (depth % 16 == 0) {
      NativeWork.freeMemory(NativeWork.allocateMemory(64 + depth));
    }
    return deep(depth + 1) + depth;
  }
}
