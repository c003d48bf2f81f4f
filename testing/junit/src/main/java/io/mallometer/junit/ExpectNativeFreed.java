package io.mallometer.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Fails a test that does not free the native memory that it allocates.
 *
 * <p>The method first runs {@link #warmups()} times to load classes and libraries. A final run must
 * then free its memory, except HotSpot's own. Memory that waits for a garbage collection counts as
 * not freed.
 */
@Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@ExtendWith(NativeMemoryExtension.class)
public @interface ExpectNativeFreed {

  /** The number of bytes that the last run may keep. */
  long allowed() default 0;

  /** The number of runs before the one that counts. */
  int warmups() default 1;

  /**
   * The threads to measure. If tests run in parallel and the class is not {@code @Isolated}, {@link
   * Of#TEST} applies whatever is set here.
   */
  Of of() default Of.PROCESS;
}
