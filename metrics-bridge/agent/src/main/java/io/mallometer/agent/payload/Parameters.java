package io.mallometer.agent.payload;

import com.sun.net.httpserver.HttpExchange;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a request says besides its path. */
final class Parameters {

  private Parameters() {}

  /**
   * The parameters of a query, by name; the first of a name counts.
   *
   * @param query as in the address; null without one
   * @throws IllegalArgumentException if it is not well encoded
   */
  static Map<String, String> of(@Nullable String query) {
    Map<String, String> parameters = new HashMap<>();
    for (String pair : query == null ? new String[0] : query.split("&")) {
      String[] parts = pair.split("=", 2);
      if (!parts[0].isEmpty()) {
        parameters.putIfAbsent(decoded(parts[0]), parts.length > 1 ? decoded(parts[1]) : "");
      }
    }
    return parameters;
  }

  private static String decoded(String text) {
    return URLDecoder.decode(text, StandardCharsets.UTF_8);
  }

  /** Whether an answer may be encoded so. */
  static boolean accepts(HttpExchange exchange, String encoding) {
    List<String> headers = exchange.getRequestHeaders().getOrDefault("Accept-Encoding", List.of());
    return String.join(",", headers)
        .matches("(?i).*\\b" + encoding + "\\b(?!\\s*;\\s*q=0(\\.0*)?\\s*(,|$)).*");
  }
}
