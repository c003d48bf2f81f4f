package io.mallometer.spring;

import io.mallometer.page.Page;
import io.mallometer.spring.CurrentRequest.ViewRequest;
import io.mallometer.view.Answer.Told;
import io.mallometer.view.RequestOrigin;
import java.net.URI;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.server.PathContainer;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;
import reactor.core.publisher.Mono;

/**
 * Prepares and checks requests for the endpoint in Spring WebFlux, where {@link CurrentRequest}
 * finds no servlet request. Runs after Spring Security's filter.
 *
 * <p>Refuses unknown parameters, requests for changes from another site's page, and changes that
 * the endpoint's access setting forbids. Puts the query into the path, see {@link ViewRequest}.
 * Puts Spring Security's CSRF token into headers of the page, because the page is built without the
 * token.
 */
final class ReactiveEndpointFilter implements WebFilter {

  private static final Set<HttpMethod> READING =
      Set.of(HttpMethod.GET, HttpMethod.HEAD, HttpMethod.OPTIONS);

  private final ObjectProvider<PathMappedEndpoints> paths;
  private final boolean changesAllowed;
  private volatile @Nullable Patterns patterns;

  /**
   * @param paths the paths of the endpoint, unknown until all beans exist
   * @param changesAllowed whether the endpoint's access allows changes
   */
  ReactiveEndpointFilter(ObjectProvider<PathMappedEndpoints> paths, boolean changesAllowed) {
    this.paths = paths;
    this.changesAllowed = changesAllowed;
  }

  @Override
  public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
    ServerHttpRequest request = exchange.getRequest();
    PathContainer path = request.getPath().pathWithinApplication();
    if (!READING.contains(request.getMethod())) {
      return patterns().all().matches(path)
          ? origin(request)
              .refusal()
              .or(this::notAllowed)
              .map(refusal -> refuse(exchange, refusal))
              .orElseGet(() -> chain.filter(withLinks(exchange)))
          : chain.filter(exchange);
    }
    if (patterns().page().matches(path)) {
      return withToken(exchange).then(chain.filter(exchange));
    }
    return request.getURI().getRawQuery() == null
        ? chain.filter(exchange)
        : foreignParameter(path, request)
            .map(refusal -> refuse(exchange, refusal))
            .orElseGet(
                () ->
                    chain.filter(
                        patterns().view().matches(path) ? withQueryInPath(exchange) : exchange));
  }

  /**
   * Moves the query of a POST into the path if it has the parameter {@code links}, because Spring
   * Boot does not pass the query of a POST to the endpoint.
   */
  private static ServerWebExchange withLinks(ServerWebExchange exchange) {
    return exchange.getRequest().getQueryParams().containsKey("links")
        ? withQueryInPath(exchange)
        : exchange;
  }

  private static ServerWebExchange withQueryInPath(ServerWebExchange exchange) {
    ServerHttpRequest asked = exchange.getRequest();
    String path = ViewRequest.path(asked.getPath().value(), asked.getURI().getRawQuery());
    return exchange.mutate().request(request -> request.path(path)).build();
  }

  private Optional<Told> notAllowed() {
    return changesAllowed ? Optional.empty() : Optional.of(NativeMemoryEndpoint.ONLY_SHOWN);
  }

  private Optional<Told> foreignParameter(PathContainer path, ServerHttpRequest request) {
    return asked(path)
        .flatMap(view -> CurrentRequest.foreignParameter(view, request.getQueryParams().keySet()));
  }

  private Optional<String> asked(PathContainer path) {
    if (patterns().root().matches(path)) {
      return Optional.of(NativeMemoryEndpoint.NAME);
    }
    return Stream.of(patterns().view(), patterns().together())
        .map(pattern -> pattern.matchAndExtract(path))
        .filter(Objects::nonNull)
        .map(match -> match.getUriVariables().get("view"))
        .findFirst();
  }

  /** Patterns that match paths as Spring does, even if the paths are percent-encoded. */
  private record Patterns(
      PathPattern all, PathPattern root, PathPattern page, PathPattern view, PathPattern together) {

    static Patterns below(String path) {
      PathPatternParser parser = PathPatternParser.defaultInstance;
      return new Patterns(
          parser.parse(path + "/**"),
          parser.parse(path),
          parser.parse(path + "/page"),
          parser.parse(path + "/{view}"),
          parser.parse(path + "/{view}/{names}"));
    }
  }

  private Patterns patterns() {
    @Nullable Patterns known = patterns;
    if (known == null) {
      @Nullable String path = PageAddress.path(paths);
      known = Patterns.below(path == null ? "/actuator/" + NativeMemoryEndpoint.NAME : path);
      patterns = known;
    }
    return known;
  }

  private static RequestOrigin origin(ServerHttpRequest request) {
    URI asked = request.getURI();
    HttpHeaders headers = request.getHeaders();
    return new RequestOrigin(
        headers.getFirst(RequestOrigin.FETCH_SITE),
        headers.getFirst(RequestOrigin.ORIGIN),
        asked.getHost() == null
            ? null
            : CurrentRequest.host(asked.getScheme(), asked.getHost(), asked.getPort()));
  }

  /**
   * Reads the whole request before the answer. Reactor Netty may otherwise not read the next
   * request on the connection.
   */
  private static Mono<Void> refuse(ServerWebExchange exchange, Told refusal) {
    ServerHttpResponse response = exchange.getResponse();
    response.setStatusCode(HttpStatusCode.valueOf(refusal.outcome().status()));
    response.getHeaders().setContentType(MediaType.APPLICATION_JSON);
    DataBuffer body = response.bufferFactory().wrap(refusal.view().json());
    return exchange
        .getRequest()
        .getBody()
        .doOnNext(DataBufferUtils::release)
        .then(response.writeWith(Mono.just(body)));
  }

  private static Mono<Void> withToken(ServerWebExchange exchange) {
    HttpHeaders headers = exchange.getResponse().getHeaders();
    return exchange.getAttribute(CurrentRequest.REACTIVE_TOKEN) instanceof Mono<?> later
        ? later
            .doOnNext(
                found ->
                    CurrentRequest.reactiveToken(found).ifPresent(token -> put(token, headers)))
            .then()
        : Mono.empty();
  }

  private static void put(Page.Token token, HttpHeaders headers) {
    headers.set(Page.TOKEN_NAME_HEADER, token.header());
    headers.set(Page.TOKEN_HEADER, token.value());
  }
}
