package io.mallometer.spring;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mallometer.page.Page.Token;
import io.mallometer.view.Answer.Told;
import io.mallometer.view.RequestOrigin;
import io.mallometer.view.Views;
import jakarta.servlet.http.HttpServletRequest;
import java.lang.reflect.InvocationTargetException;
import java.net.URLDecoder;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;
import org.springframework.web.util.UriUtils;

/**
 * The servlet request that the calling thread answers.
 *
 * <p>The Actuator does not pass the request to an endpoint. Spring MVC, or a {@code
 * RequestContextFilter} with Jersey, binds the request to the thread. Spring WebFlux has no such
 * request: see {@link ReactiveEndpointFilter}.
 */
final class CurrentRequest {

  /** The attribute of a Spring WebFlux exchange that holds the CSRF token. */
  static final String REACTIVE_TOKEN = "org.springframework.security.web.server.csrf.CsrfToken";

  private static final String TOKEN_ATTRIBUTE = "_csrf";
  private static final String TOKEN_TYPE = "org.springframework.security.web.csrf.CsrfToken";

  /**
   * The parameters that Spring Security may add to any address: {@code continue} after a login, and
   * {@code access_token} for a bearer token.
   */
  private static final Set<String> PARAMETERS_OF_SPRING_SECURITY =
      Set.of("continue", "access_token");

  private static final Map<String, Integer> PORTS = Map.of("http", 80, "https", 443);

  private static final boolean SERVLETS =
      isPresent("org.springframework.web.context.request.RequestContextHolder")
          && isPresent("jakarta.servlet.http.HttpServletRequest");

  private CurrentRequest() {}

  private static boolean isPresent(String type) {
    return ClassUtils.isPresent(type, CurrentRequest.class.getClassLoader());
  }

  /** Returns the parameters by name. Several values of one name are joined by commas. */
  private static Map<String, String> parameters() {
    Map<String, String> parameters = new HashMap<>();
    if (SERVLETS) {
      Holder.parameters().forEach((name, values) -> parameters.put(name, String.join(",", values)));
    }
    return withoutSpringSecurity(parameters);
  }

  private static Map<String, String> withoutSpringSecurity(Map<String, String> parameters) {
    parameters.keySet().removeAll(PARAMETERS_OF_SPRING_SECURITY);
    return parameters;
  }

  /**
   * Returns a refusal if the view does not know one of the parameters. The Actuator itself would
   * silently ignore an unknown parameter.
   */
  static Optional<Told> foreignParameter(String view, Collection<String> names) {
    return Views.refusal(
        view,
        names.stream().filter(name -> !PARAMETERS_OF_SPRING_SECURITY.contains(name)).toList());
  }

  /**
   * Returns a refusal if another site's page sent the request; see {@link RequestOrigin}. The
   * header {@code X-Forwarded-Host} counts only if Spring is configured to trust it.
   */
  static Optional<Told> foreignOrigin() {
    return SERVLETS ? Holder.origin().flatMap(RequestOrigin::refusal) : Optional.empty();
  }

  /** Returns the host and port as a browser shows them, without the default port of the scheme. */
  static String host(@Nullable String scheme, String name, int port) {
    String bracketed = name.contains(":") && !name.startsWith("[") ? "[" + name + "]" : name;
    boolean isImplied =
        port <= 0 || (scheme != null && Integer.valueOf(port).equals(PORTS.get(scheme)));
    return isImplied ? bracketed : bracketed + ":" + port;
  }

  /**
   * Returns the CSRF token that Spring Security requires for changes; empty if it requires none.
   */
  static Optional<Token> token() {
    return SERVLETS ? Holder.token().flatMap(found -> token(TOKEN_TYPE, found)) : Optional.empty();
  }

  static Optional<Token> reactiveToken(Object found) {
    return token(REACTIVE_TOKEN, found);
  }

  private static Optional<Token> token(String typeName, Object attribute) {
    try {
      Class<?> type = ClassUtils.forName(typeName, attribute.getClass().getClassLoader());
      return Optional.of(
          new Token(text(type, "getHeaderName", attribute), text(type, "getToken", attribute)));
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      // The page works without the token, but Spring Security then refuses a trim.
      return Optional.empty();
    }
  }

  private static String text(Class<?> type, String method, Object token)
      throws NoSuchMethodException, IllegalAccessException, InvocationTargetException {
    return (String) type.getMethod(method).invoke(token);
  }

  /**
   * A request for one view. With Spring WebFlux, {@link ReactiveEndpointFilter} appends the query
   * to the path, so the endpoint receives both in its path variable.
   *
   * @param view the name of the view
   * @param parameters the parameters of the query by name, without those of Spring Security
   */
  record ViewRequest(String view, Map<String, String> parameters) {

    private static final char MARK = '?';

    /**
     * Returns the view and the parameters of a request. With Spring WebFlux both are in the
     * selector; otherwise the parameters come from the request that this thread answers.
     */
    static ViewRequest of(String selector) {
      int mark = selector.indexOf(MARK);
      return mark < 0
          ? new ViewRequest(selector, CurrentRequest.parameters())
          : new ViewRequest(selector.substring(0, mark), parameters(selector.substring(mark + 1)));
    }

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
      return withoutSpringSecurity(parameters);
    }

    Optional<Told> refusal() {
      return foreignParameter(view, parameters.keySet());
    }
  }

  /** The code that needs the servlet API. The JVM links this class only if the API is present. */
  private static final class Holder {

    static Optional<HttpServletRequest> request() {
      return RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes servlet
          ? Optional.of(servlet.getRequest())
          : Optional.empty();
    }

    static Map<String, String[]> parameters() {
      return request().map(HttpServletRequest::getParameterMap).orElse(Map.of());
    }

    static Optional<RequestOrigin> origin() {
      return request()
          .map(
              request ->
                  new RequestOrigin(
                      request.getHeader(RequestOrigin.FETCH_SITE),
                      request.getHeader(RequestOrigin.ORIGIN),
                      host(request.getScheme(), request.getServerName(), request.getServerPort())));
    }

    static Optional<Object> token() {
      @Nullable RequestAttributes request = RequestContextHolder.getRequestAttributes();
      return request == null
          ? Optional.empty()
          : Optional.ofNullable(
              request.getAttribute(TOKEN_ATTRIBUTE, RequestAttributes.SCOPE_REQUEST));
    }
  }
}
