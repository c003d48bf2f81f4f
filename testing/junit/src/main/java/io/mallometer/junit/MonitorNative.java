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
 * <p>Each report has peak, calls, bytes, frees, net bytes and the largest request. The elements
 * below add monitors, which cover all runs of the method if other annotations run it several times.
 * A test that fails still runs to its end.
 *
 * <p>If tests run in parallel, only the thread of the test is monitored, as with {@link Of#TEST},
 * unless the class is {@code @Isolated}; {@link #liveSize()} is then refused. On a virtual thread
 * {@link Of#TEST} fails with the reason.
 */
@Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@ExtendWith(NativeMemoryExtension.class)
public @interface MonitorNative {

  /**
   * Reports requests for more bytes than this: up to 64 between two polls, the first ten with
   * stacks. With {@link Of#TEST} only the test's thread counts, in which HotSpot also loads
   * classes.
   */
  long NONE = -1;

  /** Reports when the process has more live bytes than this, with the call sites that hold most. */
  long threshold() default NONE;

  /**
   * Whether the test fails if {@link #threshold()} or {@link #liveSize()} is exceeded, or if that
   * is unknown.
   */
  long liveSize() default NONE;

  /**
   * Whether an exceeded {@link #threshold()} or {@link #liveSize()} fails the test. An unknown
   * value fails the test too.
   */
  boolean failing() default true;

  /**
   * Whether to report which bytes of the test were freed within it and which were not, matched by
   * address. Needs {@link Of#TEST}.
   */
  boolean sizes() default false;

  /**
   * Whether to report the bytes that were freed within the test, and those that were not, matched
   * by address. Needs {@link Of#TEST}.
   */
  boolean matched() default false;

  /**
   * The interval in milliseconds of rows in {@code CLASS.METHOD.csv} in the results directory
   * ({@link NativeMemoryExtension#RESULTS_DIRECTORY}); 0 for none. The last row is written at the
   * end. Bytes are relative to the beginning of the test.
   */
  long csvMillis() default 0;

  /**
   * The monitors of one test, until {@link #end()}. The library counts and stores requests. A
   * thread of this class checks the live bytes of the process and writes the CSV file, if the
   * annotation asks for that.
   */
  Of of() default Of.PROCESS;
}
