package io.mallometer.agent.payload;

import java.util.Map;

/** Reads options as the agent does, in an environment without variables. */
final class Given {

  private Given() {}

  static ServerOptions server(Map<String, String> options) {
    return ServerOptions.of(AgentSettings.of(options, Map.of()), options);
  }
}
