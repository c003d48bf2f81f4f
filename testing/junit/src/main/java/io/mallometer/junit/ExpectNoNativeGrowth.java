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
 * <p>The method runs {@link #warmups()} times or more, until what a run keeps is steady, and then
 * {@link #iterations()} times. If that series grows, the method runs as often again: the test fails
 * only if both series grow. Methods before and after each test run once around all of that. Growth
 * is judged by the call sites of live memory, without HotSpot's own; {@code
 * docs/explanation/testing.md} states how, and how often that is wrong.
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

  /** The fewest runs before the series; four times as many if they do not get steady earlier. */
  int warmups() default 5;

  /** Runs of a series, at least 5. */
  int iterations() default 20;

  /** Bytes that a run may keep. */
  long perIteration() default 0;

  /**
   * Whether garbage is collected after each run, so that what a collection frees does not count.
   * Takes up to half a second a run.
   */
  boolean collectGarbage() default false;

  /**
   * Whose memory is measured. With parallel tests {@link Of#TEST}, unless the test class is
   * isolated.
   */
  Of of() default Of.PROCESS;
}
