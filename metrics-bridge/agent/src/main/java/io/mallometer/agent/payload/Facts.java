package io.mallometer.agent.payload;

import io.mallometer.view.View;
import java.lang.management.ManagementFactory;
import java.lang.management.RuntimeMXBean;
import java.util.List;

/**
 * What the command line wants to know of a JVM besides its memory.
 *
 * @param name name and version of the JVM
 * @param version of Java
 * @param home where the JDK is
 * @param arguments the JVM's options
 * @param uptimeSeconds how long it has been running
 * @param observed whether the agent was there from the start, the command line has attached, or the
 *     application watches itself; otherwise nothing is observed but while somebody asks
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
