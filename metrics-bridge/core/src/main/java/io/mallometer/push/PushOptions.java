package io.mallometer.push;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Options of pushed profiles: address, interval and login.
 *
 * @param url the address of the store, such as {@code https://pyroscope:4040}, without the path of
 *     the protocol
 * @param interval time between two profiles
 * @param labels the labels of the profiles; {@code service_name} tells applications apart
 * @param login name and password for basic authentication
 * @param tokenFile a file with a bearer token, read at each push
 * @param tenant the header {@code X-Scope-OrgID} of stores with several tenants
 * @param certificates a file of certificates in PEM, which alone are trusted; empty: those of the
 *     JVM
 */
public record PushOptions(
    URI url,
    Duration interval,
    Map<String, String> labels,
    Optional<Login> login,
    Optional<Path> tokenFile,
    Optional<String> tenant,
    Optional<Path> certificates) {

  private static final Duration SHORTEST = Duration.ofSeconds(1);
  private static final Duration USUAL = Duration.ofSeconds(15);

  /**
   * A name and its password.
   *
   * @param user the name
   * @param password the password
   */
  public record Login(String user, String password) {
    /** Returns the options as text, without the password. */
    @Override
    public String toString() {
      return user;
    }
  }

  public PushOptions {
    labels = Map.copyOf(new TreeMap<>(labels));
  }

  /**
   * Reads options.
   *
   * @param given texts by the names {@code url}, {@code labels}, {@code username}, {@code
   *     password}, {@code tokenFile}, {@code tenant} and {@code certificates}; labels as {@code
   *     name=value}, separated by blanks or commas
   * @param service the label {@code service_name}, unless the labels have it
   * @param interval time between two profiles; empty for 15 s
   * @throws IllegalArgumentException if one makes no sense; the message says which
   */
  public static PushOptions of(
      Map<String, String> given, String service, Optional<Duration> interval) {
    Duration pause = interval.orElse(USUAL);
    if (pause.compareTo(SHORTEST) < 0) {
      throw new IllegalArgumentException(
          "push.interval is %s and must be at least 1s".formatted(pause));
    }
    if (given.containsKey("username") != given.containsKey("password")) {
      throw new IllegalArgumentException("push.username and push.password belong together");
    }
    if (given.containsKey("username") && given.containsKey("tokenFile")) {
      throw new IllegalArgumentException("push.username and push.tokenFile exclude each other");
    }
    Map<String, String> labels = new LinkedHashMap<>();
    labels.put("service_name", service);
    @Nullable String host = System.getenv("HOSTNAME");
    if (host != null && !host.isEmpty()) {
      labels.put("hostname", host);
    }
    labels.putAll(labels(given.getOrDefault("labels", "")));
    return new PushOptions(
        address(given.getOrDefault("url", "")),
        pause,
        labels,
        Optional.ofNullable(given.get("username"))
            .map(user -> new Login(user, given.getOrDefault("password", ""))),
        Optional.ofNullable(given.get("tokenFile")).map(Path::of),
        Optional.ofNullable(given.get("tenant")),
        Optional.ofNullable(given.get("certificates")).map(Path::of));
  }

  /** Returns these options with more labels. */
  public PushOptions withLabels(Map<String, String> more) {
    Map<String, String> all = new LinkedHashMap<>(labels);
    all.putAll(more);
    return new PushOptions(url, interval, all, login, tokenFile, tenant, certificates);
  }

  private static URI address(String text) {
    try {
      URI url = new URI(text);
      String scheme = url.getScheme() == null ? "" : url.getScheme().toLowerCase(Locale.ROOT);
      boolean known = scheme.equals("http") || scheme.equals("https");
      if (known && url.getHost() != null && url.getRawUserInfo() == null) {
        return url;
      }
    } catch (URISyntaxException e) {
      // Told below.
    }
    if (text.contains("@")) {
      throw new IllegalArgumentException(
          "push.url must be an address without a user and a password;"
              + " push.username and push.password are for them");
    }
    throw new IllegalArgumentException(
        "push.url is \"%s\" and must be an address such as https://pyroscope:4040".formatted(text));
  }

  private static Map<String, String> labels(String text) {
    Map<String, String> labels = new LinkedHashMap<>();
    List<String> wrong = new ArrayList<>();
    for (String label : text.split("[, ]")) {
      String[] pair = label.split("=", 2);
      if (label.isEmpty()) {
        continue;
      }
      if (pair.length == 2 && pair[0].matches("[a-zA-Z_][a-zA-Z0-9_]*")) {
        labels.put(pair[0], pair[1]);
      } else {
        wrong.add(label);
      }
    }
    if (!wrong.isEmpty()) {
      throw new IllegalArgumentException(
          "push.labels has \"%s\", and each must be name=value".formatted(wrong.get(0)));
    }
    return labels;
  }
}
