package io.mallometer.process;

import io.mallometer.ProcessMemory;
import io.mallometer.Snapshot;

/**
 * What the facade asks where memory goes. Tests feed the facade through it. Called by one thread at
 * a time.
 */
public interface MemorySource {

  /** Whether there is anything to read. Never changes. */
  boolean present();

  /**
   * Reads what is due, and repeats the rest. Never throws for what this system does not have.
   *
   * @param counted what the native library counted last, which helps to divide malloc's memory
   */
  ProcessMemory read(Snapshot counted);

  /** This process, where there is a {@code /proc}. */
  static MemorySource ofThisProcess() {
    return new ProcessMemorySource(new ProcessFiles(), System::nanoTime);
  }

  /** Nothing to read. */
  static MemorySource none() {
    return new MemorySource() {
      @Override
      public boolean present() {
        return false;
      }

      @Override
      public ProcessMemory read(Snapshot counted) {
        return ProcessMemory.unknown();
      }
    };
  }
}
