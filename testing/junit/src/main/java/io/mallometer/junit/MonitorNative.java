package io.mallometer.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Monitors the native memory of a test while it runs, and publishes what was seen as a report entry
 * {@code native memory} of the test.
 *
 * <pre>{@code
 * @Test
 * @MonitorNative(threshold = 200 << 20)   // fails, with the stack, if anybody asks for more at once
 * void imports() {
 *   importer.read(file);
 * }
 * }</pre>
 *
 * <p>Each report has the maximum: peak, calls, bytes, frees, what was kept and the largest request.
 * The monitors that elements ask for add to it. They are there around all runs of the method, if
 * other annotations run it several times. Nothing is aborted: a test that fails has run to its end.
 *
 * <p>If tests run in parallel, only the thread of the test is monitored, as with {@link Of#TEST},
 * unless the class is {@code @Isolated}; {@link #present()} is then refused. On a virtual thread
 * {@link Of#TEST} fails with the reason.
 */
@Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@ExtendWith(NativeMemoryExtension.class)
public @interface MonitorNative {

  /** A size that is not given. */
  long NONE = -1;

  /**
   * Tells of each request for more bytes than this, with its stack: the first 64. With {@link
   * Of#TEST} these are of the test's thread, in which HotSpot loads classes, too.
   */
  long threshold() default NONE;

  /**
   * Tells if more bytes than this become live in the process, with the call sites that hold most.
   */
  long present() default NONE;

  /**
   * Whether what {@link #threshold()} or {@link #present()} tell of fails the test. If it is not
   * known whether a limit was exceeded, the test fails, too.
   */
  boolean failing() default true;

  /**
   * Tells how many allocations there were of each size, requested, and as the allocator returned
   * it. Returned sizes are those of the whole process.
   */
  boolean sizes() default false;

  /**
   * Tells how much was temporary, that is freed within the test, and how much was retained, matched
   * by address. Needs {@link Of#TEST}.
   */
  boolean matched() default false;

  /**
   * Writes a row of {@code CLASS.METHOD.csv} in the results directory ({@link
   * NativeMemoryExtension#RESULTS_DIRECTORY}) each so many milliseconds, and one at the end; 0 for
   * none. Bytes are relative to the beginning of the test.
   */
  long periodicMillis() default 0;

  /** Whose memory is monitored. {@link Of#PROCESS} includes HotSpot's own allocations. */
  Of of() default Of.PROCESS;
}
