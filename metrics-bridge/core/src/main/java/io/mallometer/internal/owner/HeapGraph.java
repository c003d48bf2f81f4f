package io.mallometer.internal.owner;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a search of a Java heap has found: the longs that are addresses of native samples, and the
 * objects on the way from them to what keeps them.
 *
 * @param samples how many samples were looked for
 * @param freed how many of these are no longer live
 * @param holds one for each long
 * @param objects by number
 */
public record HeapGraph(int samples, int freed, List<Hold> holds, List<HeapObject> objects) {

  /** In place of an object's number: there is none. */
  public static final int NONE = -1;

  /**
   * A Java long that is the address of a sample.
   *
   * @param sample its number
   * @param freed whether it is no longer live
   * @param object the number of the object that has the long; {@link #NONE} for a static field
   * @param className of that object, or of the class that has the static field
   * @param field its name; empty for an element of an array, or if unknown
   * @param steps through native memory from what the long points to, to the sample
   */
  public record Hold(
      int sample, boolean freed, int object, String className, String field, int steps) {}

  /** What an object is, as far as paths depend on it. */
  public enum Kind {
    OTHER,
    CLASS,
    THREAD,
    /** A {@code java.lang.ref.Reference} of none of the following kinds. */
    WEAK,
    SOFT,
    PHANTOM,
    /** The JVM's own, for an object with a finalizer. */
    FINAL
  }

  /**
   * An object.
   *
   * @param className of a class object, the class that it is
   * @param followed whether its referrers are to be looked for, or have been
   * @param expanded whether they have been
   * @param more whether it has more than are listed
   * @param reached whether something leads to it; of use once referrers were looked for
   * @param referrers what refers to it
   */
  public record HeapObject(
      String className,
      Kind kind,
      boolean followed,
      boolean expanded,
      boolean more,
      boolean reached,
      List<Link> referrers) {}

  /** How an object is referred to. */
  public enum Reference {
    FIELD,
    ELEMENT,
    STATIC,
    JNI_GLOBAL,
    MONITOR,
    LOCAL,
    JNI_LOCAL,
    THREAD,
    /** Something of the JVM's own. */
    ROOT,
    OTHER;

    boolean ends() {
      return this != FIELD && this != ELEMENT && this != OTHER;
    }
  }

  /**
   * A reference.
   *
   * @param referrer the number of the object that has it; {@link #NONE} for a root
   * @param name of the field, or of the method whose local variable it is; null if unknown
   */
  public record Link(int referrer, Reference reference, @Nullable String name) {}

  public HeapGraph {
    holds = List.copyOf(holds);
    objects = List.copyOf(objects);
  }
}
