package io.mallometer.spring;

import io.mallometer.Mallometer;
import io.mallometer.model.Component;
import io.mallometer.view.Views;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.EndpointAccessResolver;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.http.MediaType;
import org.springframework.web.filter.OncePerRequestFilter;

/** Configures the Actuator endpoint {@code nativememory} if it is exposed. */
@AutoConfiguration(after = MallometerAutoConfiguration.class)
@ConditionalOnClass(
    name =
        "org.springframework.boot.actuate.autoconfigure.endpoint.condition"
            + ".ConditionalOnAvailableEndpoint")
@ConditionalOnBean(Mallometer.class)
@ImportRuntimeHints(MallometerEndpointAutoConfiguration.RecordsOfAnswers.class)
public final class MallometerEndpointAutoConfiguration {

  @Bean
  @ConditionalOnAvailableEndpoint
  @ConditionalOnMissingBean
  NativeMemoryEndpoint nativeMemoryEndpoint(
      Mallometer mallometer,
      ObjectProvider<EndpointAccessResolver> access,
      ConfigurableEnvironment environment) {
    return new NativeMemoryEndpoint(
        mallometer, mayTrim(access.getIfAvailable()), () -> settings(environment));
  }

  private static Map<String, String> settings(ConfigurableEnvironment environment) {
    Map<String, String> settings = new HashMap<>();
    for (PropertySource<?> source : environment.getPropertySources()) {
      if (source instanceof EnumerablePropertySource<?> listed) {
        for (String name : listed.getPropertyNames()) {
          if (name.startsWith("mallometer.")) {
            settings.put(name, String.valueOf(environment.getProperty(name)));
          }
        }
      }
    }
    return settings;
  }

  @Bean
  @ConditionalOnAvailableEndpoint(endpoint = NativeMemoryEndpoint.class)
  PageAddress nativeMemoryPageAddress(
      ObjectProvider<PathMappedEndpoints> paths, ConfigurableEnvironment environment) {
    return PageAddress.ofEndpoint(paths, environment);
  }

  private static boolean mayTrim(@Nullable EndpointAccessResolver access) {
    return access != null
        && access.accessFor(NativeMemoryEndpoint.ID, NativeMemoryEndpoint.DEFAULT_ACCESS)
            == Access.UNRESTRICTED;
  }

  @Bean
  @ConditionalOnBean(NativeMemoryEndpoint.class)
  @ConditionalOnMissingBean
  NativeMemoryEndpointWebExtension nativeMemoryEndpointWebExtension(NativeMemoryEndpoint endpoint) {
    return new NativeMemoryEndpointWebExtension(endpoint);
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
  static class Reactive {

    @Bean
    @ConditionalOnAvailableEndpoint(endpoint = NativeMemoryEndpoint.class)
    @ConditionalOnMissingBean
    ReactiveEndpointFilter nativeMemoryReactiveEndpointFilter(
        ObjectProvider<PathMappedEndpoints> paths, ObjectProvider<EndpointAccessResolver> access) {
      return new ReactiveEndpointFilter(paths, mayTrim(access.getIfAvailable()));
    }
  }

  /**
   * Configures {@link RefusedChanges}. The context of a management port needs this bean too,
   * because the context does not inherit servlet filters.
   */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
  static class Servlet {

    @Bean
    @ConditionalOnAvailableEndpoint(endpoint = NativeMemoryEndpoint.class)
    @ConditionalOnMissingBean
    RefusedChanges nativeMemoryRefusedChanges(
        ObjectProvider<PathMappedEndpoints> paths,
        ObjectProvider<EndpointAccessResolver> access,
        ConfigurableEnvironment environment) {
      return new RefusedChanges(
          paths,
          environment.getProperty("spring.mvc.servlet.path", ""),
          mayTrim(access.getIfAvailable()));
    }
  }

  /**
   * Tells GraalVM which records are read by reflection and which resources the page and the reports
   * need.
   */
  static class RecordsOfAnswers implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
      for (Class<?> kind : Component.reachable(Views.kinds().values())) {
        hints
            .reflection()
            .registerType(
                kind, MemberCategory.INVOKE_PUBLIC_METHODS, MemberCategory.INVOKE_DECLARED_METHODS);
      }
      hints.resources().registerPattern("io/mallometer/page/*");
      hints.resources().registerPattern("io/mallometer/report/*");
    }
  }

  /**
   * Refuses changes if the endpoint is read-only. The answer names the property that allows
   * changes; without this filter, Spring Boot would answer 405 without a text.
   *
   * <p>Runs after Spring Security's filter. {@link ReactiveEndpointFilter} is the equivalent for
   * Spring WebFlux.
   */
  static final class RefusedChanges extends OncePerRequestFilter {

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
      @Nullable String path = PageAddress.path(paths);
      return path != null
          && request
              .getRequestURI()
              .startsWith(request.getContextPath() + servletPath + path + "/");
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
}
