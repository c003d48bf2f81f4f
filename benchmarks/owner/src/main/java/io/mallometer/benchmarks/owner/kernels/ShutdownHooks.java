package io.mallometer.benchmarks.owner.kernels;

import com.sun.jna.Memory;
import io.mallometer.benchmarks.owner.Kernel;
import io.mallometer.model.OwnerReport.Holding;
import java.util.List;

/**
 * Spools that each register a shutdown hook and never remove it. The hook is a lambda that refers
 * to the spool. The table of hooks refers to a thread that was never started, and so is no root.
 */
public final class ShutdownHooks implements Kernel {

  private record Spool(Memory pages) {
    void flush() {
      pages.setByte(0, (byte) 1);
    }
  }

  @Override
  public Holding holding() {
    return Holding.KEPT;
  }

  @Override
  public List<String> words() {
    return List.of("Memory.peer", "Spool.pages", "static ApplicationShutdownHooks.hooks");
  }

  @Override
  public void plant() {
    for (int i = 0; i < 200; i++) {
      Spool spool = new Spool(new Memory(24_000));
      Runtime.getRuntime().addShutdownHook(new Thread(() -> spool.flush(), "spool-" + i));
    }
  }
}
