package io.mallometer.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Fails a test that allocates more native memory than is allowed.
 *
 * <pre>{@code
 * @Test
 * @ExpectMaxNative(calls = 10, peak = 512 * 1024)
 * void compresses() {
 *   compressor.compress(document);
 * }
 * }</pre>
 *
 * <p>The method first runs {@link #warmups()} times to load classes and libraries, and then {@link
 * #iterations()} times. The limits apply to the median of the {@link #iterations()} runs, because
 * HotSpot itself allocates in some runs. A limit that is not given is not checked.
 */
@Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@ExtendWith(NativeMemoryExtension.class)
public @interface ExpectMaxNative {

  /** The value of a limit that is not given. */
  long NONE = -1;

  /** Limits the successful calls of malloc and its relatives. */
  long calls() default NONE;

  /** Limits the bytes that calls of malloc request. */
  long bytes() default NONE;

  /** Limits the increase of live bytes during a run. */
  long peak() default NONE;

  /** The number of runs before those that count. */
  int warmups() default 5;

  /** The number of runs that count. */
  int iterations() default 5;

  /** The threads to measure. {@link Of#PROCESS} includes HotSpot's own allocations. */
  Of of() default Of.TEST;
}
