package io.mallometer.internal.library;

import java.util.List;

/**
 * A search of the Java heap for the Java objects that hold a call site's sampled memory, step by
 * step: see {@code mallometer_owners_step}. Steps that walk over the heap stop the program. Used by
 * one thread.
 */
public interface OwnerSearch extends AutoCloseable {

  /** The steps, in their order; the last may be repeated. */
  enum Step {
    HOLDERS,
    POINTERS,
    POINTER_HOLDERS,
    REFERRERS
  }

  /**
   * The state of a search after one of its steps.
   *
   * @param failure why the step was not done; empty if it was
   * @param samples the number of samples that are sought
   * @param samplesLeftOut the number of further samples for which there was no room
   * @param pointers the number of pairs of an address and a sample; pointers in native memory lead
   *     from the address to the sample
   * @param leftOut the number of results for which there was no room
   * @param nextObjects the number of objects whose referrers the next {@link Step#REFERRERS}
   *     searches
   * @param nextClasses the number of classes of these objects: 0, 1, or 2 for two or more
   * @param walkSeconds the time for which the latest walk stopped the program
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

    public static Figures none(String failure) {
      return new Figures(failure, 0, 0, 0, 0, 0, 0, 0);
    }
  }

  /**
   * Returns the state after the search began. If it could not begin, only {@link #close} may be
   * called.
   */
  Figures begun();

  /** Does a step. */
  Figures step(Step step);

  /** Reads all results. */
  HeapGraph graph();

  @Override
  void close();

  /** Returns a search that cannot be done, with the reason. */
  public static OwnerSearch none(String reason) {
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
