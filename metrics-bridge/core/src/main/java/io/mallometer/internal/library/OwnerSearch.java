package io.mallometer.internal.library;

import java.util.List;

/**
 * A search of the Java heap, step by step, for the objects that hold a call site's sampled memory.
 * Some steps stop the program. Used by one thread.
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
   * The state of a search after a step.
   *
   * @param failure why the step was not done; empty if it was
   * @param samplesLeftOut the number of samples for which there was no room
   * @param pointers the number of pairs of an address and a sample to which native pointers lead
   *     from this address
   * @param leftOut the number of results for which there was no room
   * @param nextObjects the number of objects whose referrers the next {@link Step#REFERRERS}
   *     searches
   * @param nextClasses the number of classes of these objects; 2 means two or more
   * @param walkSeconds for how long the latest walk stopped the program
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

  Figures step(Step step);

  HeapGraph graph();

  @Override
  void close();

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
