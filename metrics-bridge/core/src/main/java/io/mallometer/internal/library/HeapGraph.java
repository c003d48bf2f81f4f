package io.mallometer.internal.library;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of a walk over a Java heap. The walk finds the {@code long} values from which sampled
 * native memory can be reached, and the Java objects on the reference paths to these values.
 *
 * @param samples the number of samples that the walk searched for
 * @param freed the number of these samples that are no longer live
 */
public record HeapGraph(int samples, int freed, List<Hold> holds, List<HeapObject> objects) {

  /** Stands for the number of an object where there is no object. */
  public static final int NONE = -1;

  /**
   * A Java {@code long} that is the address of native memory from which a sample can be reached.
   *
   * @param freed whether the sample is no longer live
   * @param object the number of the object that has the value; {@link #NONE} for a static field
   * @param field the field's name; empty for an element of an array, or if unknown
   * @param steps the number of pointers in native memory from the address to the sample
   */
  public record Hold(
      int sample, boolean freed, int object, String className, String field, int steps) {}

  public enum Kind {
    OTHER,
    CLASS,
    THREAD,
    /**
     * A {@code java.lang.ref.Reference} other than the kinds below, such as a {@code
     * WeakReference}.
     */
    WEAK,
    SOFT,
    PHANTOM,
    FINAL
  }

  /**
   * An object on a reference path.
   *
   * @param className the class of the object; for a class object, the class that it represents
   * @param followed whether the search looks for the referrers of the object
   * @param expanded whether a walk has already looked for the referrers of the object
   * @param more whether the object has more referrers than are listed
   * @param reached whether anything refers to the object; valid only if {@code expanded}
   */
  public record HeapObject(
      String className,
      Kind kind,
      boolean followed,
      boolean expanded,
      boolean more,
      boolean reached,
      List<Link> referrers) {}

  public enum Reference {
    FIELD,
    ELEMENT,
    STATIC,
    JNI_GLOBAL,
    MONITOR,
    LOCAL,
    JNI_LOCAL,
    THREAD,
    /** A root of the Java heap inside the JVM. */
    ROOT,
    OTHER;

    public boolean ends() {
      return this != FIELD && this != ELEMENT && this != OTHER;
    }
  }

  /**
   * A reference.
   *
   * @param referrer the number of the object that has the reference; {@link #NONE} for a root
   * @param name the name of the field, or of the method with the local variable; null if unknown
   */
  public record Link(int referrer, Reference reference, @Nullable String name) {}

  public HeapGraph {
    holds = List.copyOf(holds);
    objects = List.copyOf(objects);
  }
}
