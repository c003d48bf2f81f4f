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
   * Reports requests for more bytes than this. At most 64 requests are stored between two polls,
   * and the first ten have stacks.
   *
   * <p>{@link Of#TEST} selects the requests of the test's thread. HotSpot also loads classes in
   * this thread.
   */
  long threshold() default NONE;

  /** Reports when the process has more live bytes than this, with the call sites that hold most. */
  long liveSize() default NONE;

  /**
   * Whether the test fails if {@link #threshold()} or {@link #liveSize()} is exceeded. The test
   * also fails if mallometer cannot tell whether a limit is exceeded.
   */
  boolean failing() default true;

  /**
   * Whether to report the number of allocations by size: as requested and as returned by the
   * allocator. Returned sizes are those of the whole process.
   */
  boolean sizes() default false;

  /**
   * Whether to report how many bytes of the test were freed within the test. Each free is matched
   * with its allocation by address. Needs {@link Of#TEST}.
   */
  boolean matched() default false;

  /**
   * The interval in milliseconds between rows of a CSV file; 0 for no file. Bytes are relative to
   * the beginning of the test, and the last row is written at its end.
   *
   * <p>The file is {@code CLASS.METHOD.csv} in {@link NativeMemoryExtension#RESULTS_DIRECTORY}.
   */
  long csvMillis() default 0;

  /** The threads to monitor. {@link Of#PROCESS} includes HotSpot's own allocations. */
  Of of() default Of.PROCESS;
}
