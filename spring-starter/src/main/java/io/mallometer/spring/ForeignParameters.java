package io.mallometer.spring;

import io.mallometer.view.Answer.Told;
import io.mallometer.view.Views;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * Refuses parameters that a view does not have, which the Actuator drops before the endpoint is
 * asked. Spring MVC and Jersey keep the request with the thread; for Spring WebFlux there is {@link
 * ReactiveEndpointFilter}.
 */
final class ForeignParameters {

  /**
   * Those that Spring Security puts into any address, and takes out of it: the mark of a request
   * that a login has interrupted, and a bearer token.
   */
  private static final Set<String> OF_SPRING_SECURITY = Set.of("continue", "access_token");

  private static final boolean SERVLETS =
      ClassUtils.isPresent(
              "org.springframework.web.context.request.RequestContextHolder",
              ForeignParameters.class.getClassLoader())
          && ClassUtils.isPresent(
              "jakarta.servlet.http.HttpServletRequest", ForeignParameters.class.getClassLoader());

  private ForeignParameters() {}

  /** What the servlet's request that this thread answers is answered if it has one. */
  static Optional<Told> refusal(String view) {
    return SERVLETS ? Holder.refusal(view) : Optional.empty();
  }

  /** Returns a parameter of the servlet's request that this thread answers; null without one. */
  static @Nullable String value(String name) {
    return SERVLETS ? Holder.value(name) : null;
  }

  /** What a request is answered that has one among its parameters. */
  static Optional<Told> refusal(String view, Collection<String> names) {
    return Views.refusal(
        view, names.stream().filter(name -> !OF_SPRING_SECURITY.contains(name)).toList());
  }

  /** Linked only where servlets are there. */
  private static final class Holder {

    static @Nullable String value(String name) {
      return RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes servlet
          ? servlet.getRequest().getParameter(name)
          : null;
    }

    static Optional<Told> refusal(String view) {
      @Nullable RequestAttributes attributes = RequestContextHolder.getRequestAttributes();
      return attributes instanceof ServletRequestAttributes servlet
          ? ForeignParameters.refusal(view, servlet.getRequest().getParameterMap().keySet())
          : Optional.empty();
    }
  }
}
