package io.mallometer.agent;

import java.util.OptionalInt;

/**
 * What follows the equals sign of {@code -javaagent:mallometer-agent.jar=}, such as {@code
 * port=9464,host=127.0.0.1,record=/var/lib/app/mallometer.box}.
 *
 * @param port where to serve Prometheus' formats; empty for nowhere
 * @param host the address to listen on; the loopback address unless said otherwise
 * @param record the file in which to record the last hour; empty for none
 */
record AgentOptions(OptionalInt port, String host, String record) {

  private static final String LOOPBACK = "127.0.0.1";
  private static final int HIGHEST_PORT = 65_535;

  /**
   * Reads options; none at all are valid.
   *
   * @throws IllegalArgumentException if they are not understood; the message says which
   */
  static AgentOptions parse(String text) {
    OptionalInt port = OptionalInt.empty();
    String host = LOOPBACK;
    String record = "";
    for (String option : text.isBlank() ? new String[0] : text.split(",")) {
      String[] pair = option.strip().split("=", 2);
      if (pair.length != 2 || pair[1].isEmpty()) {
        throw new IllegalArgumentException("option \"" + option + "\" is not name=value");
      }
      switch (pair[0]) {
        case "port" -> port = OptionalInt.of(port(pair[1]));
        case "host" -> host = pair[1];
        case "record" -> record = pair[1];
        default ->
            throw new IllegalArgumentException(
                "unknown option \"" + pair[0] + "\"; there are port, host and record");
      }
    }
    return new AgentOptions(port, host, record);
  }

  private static int port(String text) {
    try {
      int port = Integer.parseInt(text);
      if (port >= 1 && port <= HIGHEST_PORT) {
        return port;
      }
    } catch (NumberFormatException e) {
      // Said below, as for a number that is no port.
    }
    throw new IllegalArgumentException("port \"" + text + "\" is not between 1 and 65535");
  }
}
