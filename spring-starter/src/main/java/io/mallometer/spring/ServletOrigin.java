package io.mallometer.spring;

import io.mallometer.view.Answer.Told;
import io.mallometer.view.RequestOrigin;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * Whose page sent the servlet's request that this thread answers; see {@link RequestOrigin}. The
 * host is that of the request as Spring shows it, which follows {@code X-Forwarded-Host} where the
 * application is set up to trust it.
 */
final class ServletOrigin {

  private static final boolean SERVLETS =
      ClassUtils.isPresent(
              "org.springframework.web.context.request.RequestContextHolder",
              ServletOrigin.class.getClassLoader())
          && ClassUtils.isPresent(
              "jakarta.servlet.http.HttpServletRequest", ServletOrigin.class.getClassLoader());

  private static final Map<String, Integer> PORTS = Map.of("http", 80, "https", 443);

  private ServletOrigin() {}

  /** What this request is answered if another site's page sent it. */
  static Optional<Told> refusal() {
    return SERVLETS ? Holder.refusal() : Optional.empty();
  }

  /** As in a browser's address bar: the port is left out where the scheme says it. */
  static String host(@Nullable String scheme, String name, int port) {
    String bracketed = name.contains(":") && !name.startsWith("[") ? "[" + name + "]" : name;
    boolean isImplied =
        port <= 0 || (scheme != null && Integer.valueOf(port).equals(PORTS.get(scheme)));
    return isImplied ? bracketed : bracketed + ":" + port;
  }

  /** Linked only where servlets are there. */
  private static final class Holder {

    static Optional<Told> refusal() {
      @Nullable RequestAttributes attributes = RequestContextHolder.getRequestAttributes();
      return attributes instanceof ServletRequestAttributes servlet
          ? of(servlet.getRequest()).refusal()
          : Optional.empty();
    }

    private static RequestOrigin of(HttpServletRequest request) {
      return new RequestOrigin(
          request.getHeader(RequestOrigin.FETCH_SITE),
          request.getHeader(RequestOrigin.ORIGIN),
          host(request.getScheme(), request.getServerName(), request.getServerPort()));
    }
  }
}
