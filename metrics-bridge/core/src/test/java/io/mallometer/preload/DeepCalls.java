package io.mallometer.preload;

import io.mallometer.Mallometer;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.StackFrame;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Allocates memory after {@code arguments[0]} nested calls of one method. Prints the resulting call
 * site.
 */
final class DeepCalls {

  private static final int BYTES = 4 << 20;

  private DeepCalls() {}

  public static void main(String[] arguments) {
    try (Mallometer mallometer = Mallometer.open()) {
      mallometer.sites().read();
      List<ByteBuffer> kept = List.of(allocate(Integer.parseInt(arguments[0])));
      CallSites sites = later(mallometer);
      CallSite deep = sites.sites().stream().filter(DeepCalls::isDeep).findFirst().orElseThrow();
      long java = deep.frames().stream().filter(f -> f.kind() == StackFrame.Kind.JAVA).count();
      System.out.printf(
          "kept=%d java=%d truncated=%d no_stack=%d%n",
          kept.size(), java, sites.dropped().get("truncated"), sites.dropped().get("no_stack"));
    }
  }

  /**
   * Repeats the reading until the site appears. A call within a second of a reading returns the old
   * reading.
   */
  private static CallSites later(Mallometer mallometer) {
    CallSites sites = mallometer.sites().read();
    while (sites.sites().stream().noneMatch(DeepCalls::isDeep)) {
      sites = mallometer.sites().read();
    }
    return sites;
  }

  private static boolean isDeep(CallSite site) {
    return site.name().endsWith("DeepCalls.allocate");
  }

  private static ByteBuffer allocate(int calls) {
    return calls > 1 ? allocate(calls - 1) : ByteBuffer.allocateDirect(BYTES);
  }
}
