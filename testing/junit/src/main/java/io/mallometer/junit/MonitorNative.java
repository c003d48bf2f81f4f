package io.mallometer.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Monitors the native memory of a test while it runs, and publishes a report entry {@code native
 * memory} of the test.
 *
 * <pre>{@code
 * @Test
 * @MonitorNative(threshold = 200 << 20)   // fails, with the stack, at a larger request
 * void imports() {
 *   importer.read(file);
 * }
 * }</pre>
 *
 * <p>Each report has peak, calls, bytes, frees, net bytes and the largest request; the elements
 * below add monitors. If other annotations run the method several times, the report covers all
 * runs. A test that exceeds a limit still runs to its end.
 *
 * <p>If tests run in parallel and the class is not {@code @Isolated}, only the thread of the test
 * is monitored, as with {@link Of#TEST}, and {@link #liveSize()} is refused. On a virtual thread
 * {@link Of#TEST} fails with the reason.
 */
@Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@ExtendWith(NativeMemoryExtension.class)
public @interface MonitorNative {

  /** The value of a size that is not given. */
  long NONE = -1;

  /**
   * Reports requests for more bytes than this: up to 64 between two polls, the first ten with
   * stacks. With {@link Of#TEST} only the test's thread counts, in which HotSpot also loads
   * classes.
   */
  long threshold() default NONE;

  /** Reports when the process has more live bytes than this, with the call sites that hold most. */
  long liveSize() default NONE;

  /**
   * Whether the test fails if {@link #threshold()} or {@link #liveSize()} is exceeded, or if that
   * is unknown.
   */
  boolean failing() default true;

  /**
   * Whether to report the number of allocations by size: as requested and as returned by the
   * allocator. Returned sizes are those of the whole process.
   */
  boolean sizes() default false;

  /**
   * Whether to report which bytes of the test were freed within it and which were not, matched by
   * address. Needs {@link Of#TEST}.
   */
  boolean matched() default false;

  /**
   * The interval in milliseconds of rows in {@code CLASS.METHOD.csv} in the results directory
   * ({@link NativeMemoryExtension#RESULTS_DIRECTORY}); 0 for none. The last row is written at the
   * end. Bytes are relative to the beginning of the test.
   */
  long csvMillis() default 0;

  /** The threads to monitor. {@link Of#PROCESS} includes HotSpot's own allocations. */
  Of of() default Of.PROCESS;
}
