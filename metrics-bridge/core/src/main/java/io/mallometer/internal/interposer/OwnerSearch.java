package io.mallometer.internal.interposer;

import io.mallometer.internal.owner.HeapGraph;
import java.util.List;

/**
 * A search of the Java heap for who holds a call site's samples, step by step: see {@code
 * mallometer_owners_step}. Those that walk over the heap stop the program. Used by one thread.
 */
public interface OwnerSearch extends AutoCloseable {

  /** The steps, in the order in which they come; the last may be done again and again. */
  enum Step {
    HOLDERS,
    POINTERS,
    POINTER_HOLDERS,
    REFERRERS
  }

  /**
   * How the search stands.
   *
   * @param failure why the step was not done; empty if it was
   * @param samples how many are looked for
   * @param samplesLeftOut for how many more there was no room
   * @param pointers pairs of a value and a sample that it leads to through native memory
   * @param leftOut what was found and found no room
   * @param nextObjects the objects that the next {@link Step#REFERRERS} is about
   * @param nextClasses of how many classes: 0, 1, or 2 for more
   * @param walkSeconds how long the latest walk stopped the program
   */
  record Figures(
      String failure,
      int samples,
      int samplesLeftOut,
      int pointers,
      int leftOut,
      int nextObjects,
      int nextClasses,
      double walkSeconds) {

    static Figures none(String failure) {
      return new Figures(failure, 0, 0, 0, 0, 0, 0, 0);
    }
  }

  /** How it stands at the beginning; if that failed nothing else may be called. */
  Figures begun();

  /** Does a step. */
  Figures step(Step step);

  /** Reads all that was found. */
  HeapGraph graph();

  @Override
  void close();

  /** No search, and why. */
  static OwnerSearch none(String reason) {
    return new OwnerSearch() {
      @Override
      public Figures begun() {
        return Figures.none(reason);
      }

      @Override
      public Figures step(Step step) {
        return begun();
      }

      @Override
      public HeapGraph graph() {
        return new HeapGraph(0, 0, List.of(), List.of());
      }

      @Override
      public void close() {}
    };
  }
}
