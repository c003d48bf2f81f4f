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
 * <p>The method runs at least {@link #warmups()} times, until each run keeps about the same bytes,
 * and then {@link #iterations()} times. If memory grows in this series, a second series follows,
 * and the test fails if memory grows again. Methods with {@code @BeforeEach} or {@code @AfterEach}
 * run only once: before the first run, or after the last. Growth is judged by call site, and call
 * sites of HotSpot are left out; {@code docs/reference/gates.md} states the method and its error
 * rates.
 *
 * <p>Memory of unreachable objects counts as kept until a garbage collection frees it; the failure
 * says how much.
 */
@Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@ExtendWith(NativeMemoryExtension.class)
public @interface ExpectNoNativeGrowth {

  /**
   * The least number of warm-up runs. More warm-up runs follow until the runs are steady, up to
   * four times this number in total.
   */
  int warmups() default 5;

  /** The number of runs of a series, at least 5. */
  int iterations() default 20;

  /** The bytes that a run may keep. */
  long perIteration() default 0;

  /**
   * Whether to collect garbage after each run, so that memory that a collection frees does not
   * count. This takes up to 0.5 s for each run.
   */
  boolean collectGarbage() default false;

  /**
   * The threads to measure. If tests run in parallel and the class is not {@code @Isolated}, {@link
   * Of#TEST} applies whatever is set here.
   */
  Of of() default Of.PROCESS;
}
