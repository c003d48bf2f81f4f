package io.mallometer.benchmarks.owner;

import com.sun.jna.Native;
import io.mallometer.Mallometer;
import io.mallometer.model.CallSite;
import io.mallometer.model.OwnerBudget;
import io.mallometer.model.OwnerReport;
import io.mallometer.model.OwnerReport.Outlook;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

/**
 * Fills the heap with a number of MiB of small objects, and prints the estimated and the real
 * pauses of searches: of the first walk, before any measurement, and of later walks.
 */
public final class Pauses {

  private static final OwnerBudget ANY =
      new OwnerBudget(Duration.ofMinutes(5), Duration.ofMinutes(30));
  private static final int BLOCKS = 100;
  private static final Map<String, Order> ORDERS = new HashMap<>();
  private static final List<Handle> HANDLES = new ArrayList<>();

  private record Handle(long address) {}

  private record Order(String id, byte[] payload, long[] times, Order before) {}

  private Pauses() {}

  /** Runs the program. */
  public static void main(String[] arguments) {
    long wanted = Long.parseLong(arguments[0]) << 20;
    fill(wanted);
    try (Mallometer mallometer = Mallometer.open()) {
      Run.sites(mallometer);
      for (int i = 0; i < BLOCKS; i++) {
        HANDLES.add(new Handle(Native.malloc(40_000)));
      }
      System.gc();
      Outlook outlook = mallometer.leaks().ownerOutlook();
      CallSite site =
          Run.site(mallometer, Pauses.class.getName())
              .orElseThrow(() -> new IllegalStateException("no call site"));
      OwnerReport first = mallometer.leaks().owners(site.number(), 2, ANY);
      Outlook after = mallometer.leaks().ownerOutlook();
      OwnerReport second = mallometer.leaks().owners(site.number(), 0, ANY);
      System.out.println(
          String.format(
              Locale.ROOT,
              "%d MiB used | %.2f s | %s | %.2f s | %s",
              (Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory()) >> 20,
              outlook.pauseSeconds(),
              seconds(first.pauses()),
              after.pauseSeconds(),
              seconds(second.pauses())));
    }
  }

  private static String seconds(List<Double> pauses) {
    return String.join(
        ", ", pauses.stream().map(pause -> String.format(Locale.ROOT, "%.2f", pause)).toList());
  }

  /** Fills the heap with objects of about 42 bytes that contain random numbers and no addresses. */
  private static void fill(long bytes) {
    Random random = new Random(1);
    Order before = null;
    int number = 0;
    while (used() < bytes) {
      for (int i = 0; i < 10_000; i++) {
        byte[] payload = new byte[16];
        random.nextBytes(payload);
        Order order =
            new Order("order-" + number++, payload, new long[] {random.nextLong()}, before);
        ORDERS.put(order.id(), order);
        before = number % 16 == 0 ? null : order;
      }
    }
  }

  private static long used() {
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }
}
