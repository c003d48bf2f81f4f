package io.mallometer.preload;

import com.sun.jna.Pointer;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.library.load.ProcessLibrary;
import io.mallometer.model.ByteUnit;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.Estimate;
import io.mallometer.model.StackFrame;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Allocates and frees random objects at several call sites. A site is a recursion depth of the
 * method {@code descend}. Prints the true figures of each site with the estimates.
 *
 * <p>Arguments: a seed, the number of sites, the least and the largest number of objects of a site,
 * and two bounds. A site's objects have random sizes up to a maximum, which lies between the two
 * bounds.
 */
public final class KnownSites {

  private static final String FRAME = "descend";

  private static final class Truth {
    final int objects;
    final int largest;
    final double freedShare;
    long allocatedBytes;
    long liveObjects;
    long liveBytes;

    Truth(Random random, long[] bounds) {
      objects = between(bounds[2], bounds[3], random);
      largest = between(bounds[4], bounds[5], random);
      freedShare = Math.max(0, random.nextDouble() * 1.5 - 0.5);
    }

    /** Returns a random number. Each order of magnitude is equally likely. */
    private static int between(long least, long most, Random random) {
      return (int) (least * Math.pow((double) most / least, random.nextDouble()));
    }

    void count(long bytes, boolean freed) {
      allocatedBytes += bytes;
      if (!freed) {
        liveObjects++;
        liveBytes += bytes;
      }
    }
  }

  private KnownSites() {}

  public static void main(String[] arguments) throws Throwable {
    long[] numbers = Stream.of(arguments).mapToLong(Long::parseLong).toArray();
    Random random = new Random(numbers[0]);
    // The JVM looks up the native function at its first call.
    NativeWork.freeMemory(NativeWork.allocateMemory(1));
    NativeLibrary library = new ProcessLibrary();
    ByteUnit unit = library.callSites(Instant.now(), List.of()).byteUnit();
    if (unit != ByteUnit.GLIBC_CHUNK) {
      throw new IllegalStateException(unit.toString());
    }
    List<Truth> truths = new ArrayList<>();
    for (int depth = 1; depth <= numbers[1]; depth++) {
      Truth truth = new Truth(random, numbers);
      for (int i = 0; i < truth.objects; i++) {
        long requested = 1 + random.nextInt(truth.largest);
        boolean freed = random.nextDouble() < truth.freedShare;
        long address = descend(depth, requested);
        truth.count(bytesOf(address), freed);
        if (freed) {
          NativeWork.freeMemory(address);
        }
      }
      truths.add(truth);
    }
    CallSites sites = library.callSites(Instant.now(), List.of());
    for (int depth = 1; depth <= truths.size(); depth++) {
      print(truths.get(depth - 1), sitesOf(depth, sites));
    }
    System.out.println("dropped " + new TreeMap<>(sites.dropped()));
  }

  private static long descend(int depth, long bytes) throws Throwable {
    return depth == 1 ? (long) NativeWork.ALLOCATE.invokeExact(bytes) : descend(depth - 1, bytes);
  }

  /**
   * Returns the usable size of an object. glibc keeps the size of the chunk in the word before the
   * object.
   */
  private static long bytesOf(long address) {
    return (new Pointer(address - Long.BYTES).getLong(0) & -8) - Long.BYTES;
  }

  /**
   * Returns the sites of a recursion depth. There may be several, because a stack changes when its
   * code is compiled.
   */
  private static List<CallSite> sitesOf(int depth, CallSites sites) {
    return sites.sites().stream()
        .filter(site -> site.frames().stream().filter(KnownSites::isDescent).count() == depth)
        .filter(site -> isOfUnsafe(site.frames()))
        .toList();
  }

  private static boolean isDescent(StackFrame frame) {
    return frame.owner().equals(KnownSites.class.getName()) && frame.name().equals(FRAME);
  }

  /**
   * Returns whether a site allocates through Unsafe. Such a stack has at most two native frames:
   * {@code os::malloc} and its caller. A stack of the JVM's own allocations has more.
   */
  private static boolean isOfUnsafe(List<StackFrame> frames) {
    long inJvm = frames.stream().filter(frame -> frame.kind() == StackFrame.Kind.NATIVE).count();
    return inJvm <= 2 && frames.get((int) inJvm).name().equals("allocateMemory0");
  }

  private static void print(Truth truth, List<CallSite> sites) {
    print(
        "allocated-objects",
        truth.objects,
        sites.stream().map(CallSite::allocatedObjects).toList());
    print(
        "allocated-bytes",
        truth.allocatedBytes,
        sites.stream().map(CallSite::allocatedBytes).toList());
    print("live-objects", truth.liveObjects, sites.stream().map(CallSite::liveObjects).toList());
    print("live-bytes", truth.liveBytes, sites.stream().map(CallSite::liveBytes).toList());
  }

  private static void print(String figure, long truth, List<Estimate> estimates) {
    Estimate sum = estimates.stream().reduce(Estimate.ZERO, Estimate::plus);
    System.out.printf(
        Locale.ROOT,
        "%s %d %.3f %.3f %.3f %.6f %d%n",
        figure,
        truth,
        sum.low(),
        sum.value(),
        sum.high(),
        sum.variance(),
        sum.samples());
  }
}
