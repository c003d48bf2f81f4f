package io.mallometer.benchmarks.owner.kernels;

import com.sun.jna.Memory;
import io.mallometer.benchmarks.owner.Kernel;
import io.mallometer.model.OwnerReport.Holding;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** Listeners that are never removed, each with memory of JNA. */
public final class Listeners implements Kernel {

  private static final List<Consumer<String>> SUBSCRIBED = new CopyOnWriteArrayList<>();

  private record Listener(Memory memory) implements Consumer<String> {
    @Override
    public void accept(String event) {
      memory.setString(0, event);
    }
  }

  @Override
  public Holding holding() {
    return Holding.KEPT;
  }

  @Override
  public List<String> words() {
    return List.of("Memory.peer", "Listener.memory", "static Listeners.SUBSCRIBED");
  }

  @Override
  public void plant() {
    for (int i = 0; i < 200; i++) {
      SUBSCRIBED.add(new Listener(new Memory(20_000)));
    }
  }
}
