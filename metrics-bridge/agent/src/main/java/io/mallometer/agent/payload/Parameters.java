package io.mallometer.agent.payload;

import io.mallometer.agent.payload.http.Request;
import io.mallometer.view.ParameterNames;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads the query of a request, and whether the client accepts gzip. */
final class Parameters {

  private static final Pattern ZIPPED =
      Pattern.compile("\\bgzip\\b(?!\\s*;\\s*q=0(\\.0*)?\\s*(,|$))", Pattern.CASE_INSENSITIVE);

  private Parameters() {}

  /**
   * Returns the parameters of an encoded query by name. If a name occurs more than once, its first
   * value is taken.
   *
   * @throws IllegalArgumentException if the query is not correctly encoded
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
    try {
      return URLDecoder.decode(text, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("'" + text + "' is not correctly URL-encoded", e);
    }
  }

  /**
   * Returns the values of the only allowed parameter, which may be repeated.
   *
   * @param asked the name of the view, for messages
   * @throws IllegalArgumentException for another parameter or a wrong encoding
   */
  static Set<String> only(String asked, String name, @Nullable String query) {
    ParameterNames.check(asked, of(query).keySet(), List.of(name));
    Set<String> values = new LinkedHashSet<>();
    for (String pair : query == null ? new String[0] : query.split("&")) {
      String[] parts = pair.split("=", 2);
      if (parts.length > 1) {
        values.add(decoded(parts[1]));
      }
    }
    return values;
  }

  static boolean accepts(Request request) {
    @Nullable String accepted = request.header("Accept-Encoding");
    return accepted != null && ZIPPED.matcher(accepted).find();
  }
}
