package io.mallometer.spring;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.core.env.Environment;

/** Finds the address of mallometer's web page, for a browser on this machine. */
@FunctionalInterface
interface PageAddress {

  /** The addresses with which a server listens on all interfaces. */
  Set<String> ANY = Set.of("0.0.0.0", "::", "[::]");

  /**
   * Returns the address; empty if the endpoint is not exposed over HTTP or no server listens yet.
   */
  String find();

  /** Finds the page of the Actuator endpoint, which is on the management port if there is one. */
  static PageAddress ofEndpoint(
      ObjectProvider<PathMappedEndpoints> paths, Environment environment) {
    return () -> {
      @Nullable String path = path(paths);
      return path == null ? "" : address(path, environment);
    };
  }

  static @Nullable String path(ObjectProvider<PathMappedEndpoints> paths) {
    @Nullable PathMappedEndpoints endpoints = paths.getIfAvailable();
    return endpoints == null ? null : endpoints.getPath(NativeMemoryEndpoint.ID);
  }

  static String address(String path, Environment environment) {
    @Nullable String application = environment.getProperty("local.server.port");
    @Nullable String management = environment.getProperty("local.management.port", application);
    if (management == null) {
      return "";
    }
    boolean separate = !management.equals(application);
    String server = separate ? "management.server." : "server.";
    String base =
        separate
            ? environment.getProperty("management.server.base-path", "")
            : environment.getProperty(
                    "server.servlet.context-path",
                    environment.getProperty("spring.webflux.base-path", ""))
                + environment.getProperty("spring.mvc.servlet.path", "");
    boolean tls =
        environment.getProperty(server + "ssl.enabled", Boolean.class, true)
            && (environment.containsProperty(server + "ssl.key-store")
                || environment.containsProperty(server + "ssl.certificate")
                || environment.containsProperty(server + "ssl.bundle"));
    String host = environment.getProperty(server + "address", "localhost");
    String reached = ANY.contains(host) ? "localhost" : host;
    return (tls ? "https" : "http")
        + "://"
        + CurrentRequest.host(null, reached, Integer.parseInt(management))
        + base
        + path
        + "/page";
  }
}
