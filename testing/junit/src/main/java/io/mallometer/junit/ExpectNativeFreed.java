package io.mallometer.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/** The bytes of the last run that need not be freed. */
@Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@ExtendWith(NativeMemoryExtension.class)
public @interface ExpectNativeFreed {

  /** The bytes that may stay live. */
  long allowed() default 0;

  /** The number of runs before the one that counts. */
  int warmups() default 1;

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
   * <p>The method runs at least {@link #warmups()} times, until each run keeps about the same
   * bytes, and then {@link #iterations()} times. If memory grows in this series, a second series
   * follows, and the test fails if memory grows again. Methods before and after each test run once
   * around all runs. Growth is judged by call site, without HotSpot's own; {@code
   * docs/reference/gates.md} states the method and its error rates.
   *
   * <p>Memory of unreachable objects counts as kept until a garbage collection frees it; the
   * failure says how much.
   */
  Of of() default Of.PROCESS;
}
