package io.mallometer.spring;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mallometer.view.Answer.Told;
import java.net.URLDecoder;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.springframework.web.util.UriUtils;

/**
 * A request for one view. Spring WebFlux binds no request to a thread. There, {@link
 * ReactiveEndpointFilter} puts the query into the path, and thereby into the operation's selector.
 *
 * @param view the name of the view
 * @param parameters the parameters of the query by name, without those of Spring Security
 */
record ViewRequest(String view, Map<String, String> parameters) {

  private static final char MARK = '?';

  /** Reads the selector of an operation and the query of the request on this thread. */
  static ViewRequest of(String selector) {
    int mark = selector.indexOf(MARK);
    return mark < 0
        ? new ViewRequest(selector, CurrentRequest.parameters())
        : new ViewRequest(selector.substring(0, mark), parameters(selector.substring(mark + 1)));
  }

  /** Returns a path with the query appended to its last segment. */
  static String path(String path, String query) {
    return path + UriUtils.encode(MARK + query, UTF_8);
  }

  private static Map<String, String> parameters(String query) {
    Map<String, String> parameters = new HashMap<>();
    for (String each : query.split("&")) {
      int equals = each.indexOf('=');
      if (equals > 0) {
        parameters.merge(
            URLDecoder.decode(each.substring(0, equals), UTF_8),
            URLDecoder.decode(each.substring(equals + 1), UTF_8),
            (first, next) -> first + "," + next);
      }
    }
    return CurrentRequest.withoutSpringSecurity(parameters);
  }

  /** Returns the refusal of parameters that the view does not have. */
  Optional<Told> refusal() {
    return CurrentRequest.foreignParameter(view, parameters.keySet());
  }
}
