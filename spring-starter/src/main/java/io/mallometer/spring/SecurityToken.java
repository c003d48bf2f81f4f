package io.mallometer.spring;

import io.mallometer.page.Page.Token;
import java.lang.reflect.InvocationTargetException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

/**
 * The token that Spring Security asks of a request that changes something, as it leaves it in the
 * request. An endpoint does not see the request; Spring MVC keeps it with the thread, and for
 * Spring WebFlux there is {@link ReactiveEndpointFilter}. Spring Security need not be there, so its
 * types are known by name only.
 */
final class SecurityToken {

  /** Where it is to come in an exchange of Spring WebFlux: the name of its type. */
  static final String REACTIVE_ATTRIBUTE = "org.springframework.security.web.server.csrf.CsrfToken";

  private static final String ATTRIBUTE = "_csrf";
  private static final String TYPE = "org.springframework.security.web.csrf.CsrfToken";

  private static final boolean SPRING_WEB =
      ClassUtils.isPresent(
          "org.springframework.web.context.request.RequestContextHolder",
          SecurityToken.class.getClassLoader());

  private SecurityToken() {}

  /** The token of the request that this thread answers; empty if none is required. */
  static Optional<Token> ofThisRequest() {
    return SPRING_WEB ? Holder.attribute().flatMap(found -> token(TYPE, found)) : Optional.empty();
  }

  /** The token that was found under {@link #REACTIVE_ATTRIBUTE}. */
  static Optional<Token> reactive(Object found) {
    return token(REACTIVE_ATTRIBUTE, found);
  }

  private static Optional<Token> token(String typeName, Object attribute) {
    try {
      Class<?> type = ClassUtils.forName(typeName, attribute.getClass().getClassLoader());
      return Optional.of(
          new Token(text(type, "getHeaderName", attribute), text(type, "getToken", attribute)));
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      // The page is shown without it; a trim is then refused by Spring Security.
      return Optional.empty();
    }
  }

  private static String text(Class<?> type, String method, Object token)
      throws NoSuchMethodException, IllegalAccessException, InvocationTargetException {
    return (String) type.getMethod(method).invoke(token);
  }

  /** Linked only where Spring's web is there. */
  private static final class Holder {

    static Optional<Object> attribute() {
      @Nullable RequestAttributes request = RequestContextHolder.getRequestAttributes();
      return request == null
          ? Optional.empty()
          : Optional.ofNullable(request.getAttribute(ATTRIBUTE, RequestAttributes.SCOPE_REQUEST));
    }
  }
}
