package io.mallometer.preload;

import io.mallometer.Mallometer;
import io.mallometer.jmx.NativeMemoryMBeans;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Simulates two web applications in one server. Each brings its own copy of mallometer's Java
 * library and of JNA, and their class loaders share only the JDK.
 */
public final class TwoClassLoaders {

  private static final int SHORT = 700;
  private static final int LONG = 20_000;

  private TwoClassLoaders() {}

  public static void main(String[] arguments) throws Exception {
    AutoCloseable first = inAnotherClassLoader(Application.class);
    System.out.println("first=" + first);
    AutoCloseable second = inAnotherClassLoader(Application.class);
    System.out.println("second=" + second);
    first.close();
    System.out.println("after the first closed: " + second.toString().split(" ")[1]);
    System.out.println("after the first closed: " + observation(LONG));
    second.close();
    for (int i = 0; i < 100 && !Program.mallometerThreads().isEmpty(); i++) {
      Thread.sleep(20);
    }
    System.out.println(
        "after both closed: threads="
            + Program.mallometerThreads().size()
            + " "
            + second.toString().split(" ")[1]);
    System.out.println("after both closed: " + observation(SHORT));
    try (AutoCloseable third = inAnotherClassLoader(Application.class)) {
      System.out.println("after the third opened: " + observation(LONG));
      System.out.println("third=" + third);
    }
  }

  /**
   * Returns whether the thread that observes accesses is active. Waits up to {@code longestMillis},
   * because the thread may be busy with a scan or may not have started yet.
   */
  private static String observation(int longestMillis) throws Exception {
    Thread.sleep(500);
    long before = sleeps();
    long end = System.nanoTime() + longestMillis * 1_000_000L;
    while (sleeps() == before && System.nanoTime() < end) {
      Thread.sleep(50);
    }
    return sleeps() == before ? "observation rests" : "observation goes on";
  }

  /**
   * Returns how often the thread that observes accesses went to sleep; 0 if the thread has ended.
   */
  private static long sleeps() throws IOException {
    try (Stream<Path> threads = Files.list(Path.of("/proc/self/task"))) {
      for (Path thread : threads.toList()) {
        try {
          if (Files.readString(thread.resolve("comm")).equals("mallometer-leak\n")) {
            return Files.readAllLines(thread.resolve("status")).stream()
                .filter(line -> line.startsWith("voluntary_ctxt_switches"))
                .mapToLong(line -> Long.parseLong(line.split("\\s+")[1]))
                .sum();
          }
        } catch (IOException e) {
          continue; // this thread has ended since it was listed
        }
      }
    }
    return 0;
  }

  /**
   * Returns a new object of a class. A new class loader loads the class and all that the class
   * uses, so {@code T} must be a type of the JDK.
   */
  @SuppressWarnings("unchecked")
  static <T> T inAnotherClassLoader(Class<?> type) throws Exception {
    List<URL> classPath = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(":")) {
      classPath.add(Path.of(entry).toUri().toURL());
    }
    ClassLoader loader =
        new URLClassLoader(classPath.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    return (T) loader.loadClass(type.getName()).getDeclaredConstructor().newInstance();
  }

  public static final class Application implements AutoCloseable {
    private final Mallometer mallometer =
        Mallometer.open(
            MallometerOptions.defaults()
                .with(Setting.POLL_INTERVAL, Duration.ofMillis(100))
                .with(Setting.LEAK_TIME_SCALE, 50.0));
    private final NativeMemoryMBeans beans = NativeMemoryMBeans.register(mallometer);

    @Override
    public void close() {
      beans.close();
      mallometer.close();
    }

    @Override
    public String toString() {
      return mallometer.status().state() + " registered=" + beans.registered();
    }
  }
}
