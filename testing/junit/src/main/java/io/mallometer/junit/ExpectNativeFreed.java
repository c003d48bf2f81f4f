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
 * <p>The method runs {@link #warmups()} times, which load classes and libraries, and once more.
 * Nothing that the last run allocates may be left, by the call sites of live memory without
 * HotSpot's own. Memory that waits for a garbage collection counts as left.
 */
@Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@ExtendWith(NativeMemoryExtension.class)
public @interface ExpectNativeFreed {

  /** Bytes that may be left. */
  long allowed() default 0;

  /** Runs before the one that counts. */
  int warmups() default 1;

  /**
   * Whose memory is measured. With parallel tests {@link Of#TEST}, unless the test class is
   * isolated.
   */
  Of of() default Of.PROCESS;
}
