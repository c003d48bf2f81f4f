package io.mallometer.preload;

import io.mallometer.Mallometer;
import io.mallometer.model.SelfReport;
import java.util.zip.Deflater;

/**
 * Prints the mean microseconds of a sample with native and Java frames, in a JVM that samples
 * thousands of allocations about thirty calls deep.
 */
final class SampleCost {

  private static final int ROUNDS = 3;
  private static final int STREAMS = 10_000;
  private static final int DEPTH = 20;

  private SampleCost() {}

  /** Prints only the last round, because much code runs for the first time in the first rounds. */
  public static void main(String[] arguments) {
    try (Mallometer mallometer = Mallometer.open()) {
      mallometer.sites().read();
      String result = "";
      for (int round = 0; round < ROUNDS; round++) {
        SelfReport before = mallometer.poll().self();
        for (int i = 0; i < STREAMS; i++) {
          compress(DEPTH);
        }
        SelfReport after = mallometer.poll().self();
        double samples = after.sampling().samples() - before.sampling().samples();
        double micros = 1e6 * (after.overheadSeconds() - before.overheadSeconds()) / samples;
        result = "samples=%.0f micros=%.3f".formatted(samples, micros);
      }
      System.out.println(result);
    }
  }

  private static void compress(int calls) {
    if (calls > 0) {
      compress(calls - 1);
    } else {
      new Deflater().end();
    }
  }
}
