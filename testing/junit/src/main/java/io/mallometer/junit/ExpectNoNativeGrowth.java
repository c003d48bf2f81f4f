package io.mallometer.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Fails a test whose live native memory grows each time it runs.
 *
 * <pre>{@code
 * @Test
 * @ExpectNoNativeGrowth
 * void compresses() {
 *   new Deflater().deflate(buffer); // fails: end() is missing
 * }
 * }</pre>
 *
 * <p>The method runs {@link #warmups()} times or more, until the bytes that a run keeps are steady,
 * and then {@link #iterations()} times. If that series grows, the method runs as often again: the
 * test fails only if both series grow. Methods before and after each test run once around all runs.
 * Growth is judged by call site, HotSpot's excluded; {@code docs/reference/gates.md} states the
 * method and its error rates.
 *
 * <p>Memory of unreachable objects that no garbage collection has freed yet counts as kept. The
 * failure says how much of it a garbage collection freed.
 */
@Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@ExtendWith(NativeMemoryExtension.class)
public @interface ExpectNoNativeGrowth {

  /** The fewest runs before the series; at most four times as many until the runs are steady. */
  int warmups() default 5;

  /** The number of runs of a series, at least 5. */
  int iterations() default 20;

  /** The bytes that a run may keep. */
  long perIteration() default 0;

  /**
   * Whether to collect garbage after each run, so that memory freed by a collection does not count.
   * Takes up to 0.5 s a run.
   */
  boolean collectGarbage() default false;

  /** The threads to measure. Parallel tests use {@link Of#TEST}, unless the class is isolated. */
  Of of() default Of.PROCESS;
}
