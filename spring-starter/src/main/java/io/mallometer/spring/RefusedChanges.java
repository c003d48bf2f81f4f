package io.mallometer.spring;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.http.MediaType;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Answers a request for a change with the property that allows it, if the endpoint is read-only.
 * Spring Boot would answer 405 without a text. {@link ReactiveEndpointFilter} does this for Spring
 * WebFlux. Runs after Spring Security's filter.
 */
final class RefusedChanges extends OncePerRequestFilter {

  private static final Set<String> CHANGING = Set.of("POST", "DELETE");

  private final ObjectProvider<PathMappedEndpoints> paths;
  private final String servletPath;
  private final boolean changesAllowed;

  /**
   * @param paths the paths of the endpoint, unknown until all beans exist
   * @param servletPath the path of Spring MVC's servlet below the context path
   */
  RefusedChanges(
      ObjectProvider<PathMappedEndpoints> paths, String servletPath, boolean changesAllowed) {
    this.paths = paths;
    this.servletPath =
        servletPath.endsWith("/")
            ? servletPath.substring(0, servletPath.length() - 1)
            : servletPath;
    this.changesAllowed = changesAllowed;
  }

  @Override
  protected boolean shouldNotFilter(HttpServletRequest request) {
    return changesAllowed || !CHANGING.contains(request.getMethod()) || !isOurs(request);
  }

  private boolean isOurs(HttpServletRequest request) {
    @Nullable PathMappedEndpoints endpoints = paths.getIfAvailable();
    @Nullable String path = endpoints == null ? null : endpoints.getPath(NativeMemoryEndpoint.ID);
    return path != null
        && request.getRequestURI().startsWith(request.getContextPath() + servletPath + path + "/");
  }

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    response.setStatus(NativeMemoryEndpoint.ONLY_SHOWN.outcome().status());
    response.setContentType(MediaType.APPLICATION_JSON_VALUE);
    response.getOutputStream().write(NativeMemoryEndpoint.ONLY_SHOWN.view().json());
  }
}
