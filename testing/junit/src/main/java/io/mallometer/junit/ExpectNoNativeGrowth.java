package io.mallometer.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/** The fewest warm-up runs; up to four times as many if the runs are not steady before. */
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

  /**
   * Whether to collect garbage after each run, so that memory that a collection frees does not
   * count. This takes up to 0.5 s for each run.
   */
  long perIteration() default 0;

  /**
   * Whether to collect garbage after each run, so that memory freed by a collection does not count.
   * Takes up to 0.5 s a run.
   */
  boolean collectGarbage() default false;

  /** The threads to measure. Parallel tests use {@link Of#TEST}, unless the class is isolated. */
  Of of() default Of.PROCESS;
}
