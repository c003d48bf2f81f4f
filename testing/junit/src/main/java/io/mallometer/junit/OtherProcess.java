package io.mallometer.junit;

import java.util.function.Supplier;
import javax.management.MBeanServerConnection;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Measures a process other than the one that runs the tests, such as a service that a test starts:
 *
 * <pre>{@code
 * @RegisterExtension
 * static final OtherProcess SERVICE = OtherProcess.overHttp(() -> "http://127.0.0.1:" + port);
 * }</pre>
 *
 * <p>The process counts by itself: it is preloaded, or has the agent or the starter. All its
 * threads are measured together, with HotSpot's own memory. So growth is judged by the counters of
 * the process alone, and a small leak needs more iterations. No peak is known.
 */
public final class OtherProcess implements BeforeEachCallback {

  private final MeasuredProcess process;

  private OtherProcess(MeasuredProcess process) {
    this.process = process;
  }

  /**
   * A process with the agent's port or the Actuator endpoint {@code nativememory}. Each reading
   * waits for the process's next poll, 5 s at most by default; the starter's property {@code
   * mallometer.poll-interval} makes that shorter.
   *
   * @param address such as {@code http://127.0.0.1:9464/nativememory}, or {@code
   *     http://127.0.0.1:8080/actuator/nativememory}
   */
  public static OtherProcess overHttp(Supplier<String> address) {
    return new OtherProcess(new RemoteProcess(new HttpFigures(address)));
  }

  /**
   * A process whose MBean {@code io.mallometer:type=NativeMemory} is reached by JMX. Readings are
   * of the moment. The MBean has only one bracket, which the tests occupy while they run.
   */
  public static OtherProcess overJmx(Supplier<MBeanServerConnection> connection) {
    return new OtherProcess(new RemoteProcess(new JmxFigures(connection)));
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    NativeMemoryExtension.measure(context, process);
  }
}
