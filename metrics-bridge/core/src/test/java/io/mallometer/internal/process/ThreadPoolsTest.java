package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ChildJvm;
import io.mallometer.Mallometer;
import io.mallometer.internal.library.load.BundledLibrary;
import io.mallometer.model.ThreadStacks;
import io.mallometer.model.ThreadStacks.ThreadPool;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ThreadPoolsTest {

  @TempDir private Path directory;

  @Test
  void aPoolHasTheMemoryOfItsStacksOnly() {
    List<Mapping> mappings =
        List.of(
            mapping(0x1000, 0x3000, 4096),
            mapping(0x3000, 0x7000, 8192),
            mapping(0x9000, 0xa000, 4096));

    ThreadStacks stacks =
        ThreadPools.of(
            List.of("a-1", "a-22", "b", "gone", "a-3"),
            Optional.of(new long[] {0x1000, 0x3000, 0x3000, 0x5000, 0x8000, 0x20000, 0, 0, 0, 0}),
            mappings);

    assertThat(stacks.pools())
        .containsExactly(
            new ThreadPool("a-#", 3, 4096 + 4096),
            new ThreadPool("b", 1, 4096),
            new ThreadPool("gone", 1, Double.NaN));
    assertThat(stacks.reason()).isEqualTo("stacks that were not found and are not counted: 2");
    assertThat(stacks.sentence())
        .isEqualTo("Threads by pool: 3 a-# (8.0 KiB), 1 b (4.0 KiB), 1 gone.");
  }

  @Test
  void withoutTheJvmsDescriptionThePoolsAreCountedAndTheReasonIsTold() {
    ThreadStacks stacks = ThreadPools.of(List.of("a-1", "b", "a-2"), Optional.empty(), List.of());

    assertThat(stacks.pools()).extracting(ThreadPool::name).containsExactly("a-#", "b");
    assertThat(stacks.pools()).extracting(ThreadPool::stackBytes).containsOnly(Double.NaN);
    assertThat(stacks.reason()).isNotEmpty();
    assertThat(stacks.sentence()).isEqualTo("Threads by pool: 2 a-#, 1 b.");
  }

  @Test
  void theThreadsOfThisJvmAreCountedByPool() throws InterruptedException {
    CountDownLatch end = new CountDownLatch(1);
    List<Thread> threads =
        IntStream.range(0, 30)
            .mapToObj(i -> new Thread(() -> awaited(end), "counted-pool-" + i))
            .toList();
    threads.forEach(Thread::start);

    ProcessCounts counts = ProcessCounts.read().with(ThreadPools.read(List.of()));

    end.countDown();
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(counts.pools()).containsEntry("counted-pool-#", 30);
    assertThat(counts.threads()).isGreaterThan(30);
    assertThat(counts.classes()).isGreaterThan(100);
  }

  private static void awaited(CountDownLatch end) {
    try {
      end.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void allPoolsAreKeptAndTwentyShown() {
    List<String> names = IntStream.range(0, 50).mapToObj(i -> "p" + (char) ('A' + i)).toList();
    ThreadStacks stacks = ThreadPools.of(names, Optional.empty(), List.of());

    assertThat(stacks.allPools()).hasSize(50);
    assertThat(stacks.pools()).hasSize(ThreadStacks.MOST_POOLS);
  }

  /**
   * The kernel keeps only 15 characters of a thread's name, and these are the same in all three
   * pools.
   */
  @ParameterizedTest(name = "attached={0}")
  @ValueSource(booleans = {false, true})
  @Tag("process")
  @Tag("any-jdk")
  void poolsWhoseKernelNamesAreAlikeAreToldApart(boolean attached) throws IOException {
    for (Path home : ChildJvm.jdksWith(attached)) {
      String output =
          new ChildJvm()
              .java(home)
              .options("-XX:CompileCommand=quiet")
              .options("-XX:CompileCommand=exclude," + Pools.class.getName() + "::deepen")
              .preloadUnless(attached, BundledLibrary.extract(directory))
              .run(Pools.class)
              .output();
      Map<String, String[]> pools =
          output
              .lines()
              .filter(line -> line.startsWith("pool,"))
              .map(line -> line.split(","))
              .collect(Collectors.toMap(line -> line[1], Function.identity()));

      assertThat(pools).as(output).containsKeys("application-pool-one-#", "application-pool-two-#");
      check(pools.get("application-pool-one-#"), 30, 0);
      check(pools.get("application-pool-two-#"), 20, 256 << 10);
      check(pools.get("application-pool-three-#"), 10, 512 << 10);
      assertThat(pools).doesNotContainKeys("", "virtual-#");
      ChildJvm.printRow(home, attached, "threads", line(output, "told "), line(output, "took "));
      if (output.contains("virtual threads: 1000")) {
        int carriers = Integer.parseInt(pools.get("ForkJoinPool-#-worker-#")[2]);
        assertThat(carriers).isBetween(1, 256);
      }
    }
  }

  private static String line(String output, String begin) {
    return output
        .lines()
        .filter(line -> line.startsWith(begin))
        .map(line -> line.substring(begin.length()))
        .findFirst()
        .orElse("");
  }

  private static void check(String[] pool, int threads, double touched) {
    assertThat(Integer.parseInt(pool[2])).isEqualTo(threads);
    // A stack also has the frames of the JVM and of the method that touches the bytes.
    assertThat(Double.parseDouble(pool[3]) / threads).isBetween(touched, touched * 3 + (128 << 10));
  }

  private static Mapping mapping(long start, long end, long resident) {
    return new Mapping(start, end, Access.WRITABLE, true, "", resident, false, 0, 0);
  }

  static final class Pools {

    private static final CountDownLatch TOUCHED = new CountDownLatch(60);
    private static final int LATER = 100;

    private Pools() {}

    public static void main(String[] arguments) throws Exception {
      Mallometer.open().counting().attach();
      System.out.println("virtual threads: " + startVirtual(1_000));
      start("application-pool-one-", 30, 0);
      start("application-pool-two-", 20, 256 << 10);
      start("application-pool-three-", 10, 512 << 10);
      TOUCHED.await();
      List<Mapping> mappings = new ProcessFiles().mappings().orElseThrow();
      long begin = Pause.processorNanos();
      ThreadStacks stacks = ThreadPools.read(mappings);
      long first = Pause.processorNanos() - begin;
      begin += first;
      for (int i = 0; i < LATER; i++) {
        ThreadPools.read(mappings);
      }
      long later = (Pause.processorNanos() - begin) / LATER;
      System.out.println("took %d us, later %d us".formatted(first / 1000, later / 1000));
      System.out.println("told " + stacks.sentence());
      System.out.println("reason " + stacks.reason());
      for (ThreadPool pool : stacks.pools()) {
        System.out.println("pool," + pool.name() + "," + pool.threads() + "," + pool.stackBytes());
      }
      System.exit(0);
    }

    /** Starts virtual threads that wait with a deep stack, which lies in the Java heap. */
    private static int startVirtual(int count) throws Exception {
      Method ofVirtual;
      try {
        ofVirtual = Thread.class.getMethod("ofVirtual");
      } catch (NoSuchMethodException e) {
        return 0;
      }
      CountDownLatch deep = new CountDownLatch(count);
      Method start = Class.forName("java.lang.Thread$Builder").getMethod("start", Runnable.class);
      Method name =
          Class.forName("java.lang.Thread$Builder").getMethod("name", String.class, long.class);
      Object builder = name.invoke(ofVirtual.invoke(null), "virtual-", 0L);
      for (int i = 0; i < count; i++) {
        start.invoke(
            builder,
            (Runnable)
                () -> {
                  deepen(4 << 10, 0);
                  deep.countDown();
                  sleep();
                });
      }
      deep.await();
      return count;
    }

    private static void start(String name, int count, int bytes) {
      for (int i = 0; i < count; i++) {
        Thread thread = new Thread(null, () -> touch(bytes), name + i, 4 << 20);
        thread.setDaemon(true);
        thread.start();
      }
    }

    private static void touch(int bytes) {
      int anchor = 0;
      deepen(bytes, anchor);
      TOUCHED.countDown();
      sleep();
    }

    private static void sleep() {
      try {
        Thread.sleep(60_000);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    /**
     * Recurses until {@code left} bytes of stack are used. Each interpreted frame takes at least 64
     * bytes.
     */
    private static int deepen(int left, int number) {
      return left <= 0 ? number : deepen(left - 64, number + 1) + 1;
    }
  }
}
