package io.mallometer.agent.payload;

import io.mallometer.view.View;
import java.lang.management.ManagementFactory;
import java.lang.management.RuntimeMXBean;
import java.util.List;

/**
 * Facts about a JVM besides its memory, for the command line.
 *
 * @param name the name and version of the JVM
 * @param version the version of Java
 * @param home the directory of the JDK
 * @param arguments the JVM's options
 * @param uptimeSeconds the time since the start of the JVM
 * @param observed whether the library is polled even while no command runs. It is polled if the
 *     agent runs, if the command {@code attach} began the counting, or if the application polls it
 */
public record Facts(
    String name,
    String version,
    String home,
    List<String> arguments,
    double uptimeSeconds,
    boolean observed)
    implements View {

  static Facts ofThisJvm(boolean observed) {
    RuntimeMXBean runtime = ManagementFactory.getRuntimeMXBean();
    return new Facts(
        runtime.getVmName() + " " + runtime.getVmVersion(),
        System.getProperty("java.version", ""),
        System.getProperty("java.home", ""),
        runtime.getInputArguments(),
        runtime.getUptime() / 1e3,
        observed);
  }
}
