package io.mallometer.push;

import io.mallometer.model.InvalidSettingException;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Options of pushed profiles.
 *
 * @param url the address of the store, such as {@code https://pyroscope:4040}, without the path
 * @param interval the time between two profiles
 * @param labels the labels of the profiles; {@code service_name} tells applications apart
 * @param login name and password for basic authentication
 * @param tokenFile a file with a bearer token, read at each push
 * @param tenant the header {@code X-Scope-OrgID}, for stores with several tenants
 * @param certificates a PEM file; only its certificates are trusted. Empty to trust the
 *     certificates that the JVM trusts
 * @param sslContext supplies the SSL context at each push; empty to use {@code certificates}
 */
public record PushOptions(
    URI url,
    Duration interval,
    Map<String, String> labels,
    Optional<Login> login,
    Optional<Path> tokenFile,
    Optional<String> tenant,
    Optional<Path> certificates,
    Optional<Supplier<SSLContext>> sslContext) {

  /**
   * A name and its password.
   *
   * @param user the name
   * @param password the password
   */
  public record Login(String user, String password) {
    /** Returns the name, without the password. */
    @Override
    public String toString() {
      return user;
    }
  }

  public PushOptions {
    labels = Map.copyOf(new TreeMap<>(labels));
  }

  /**
   * Reads the settings whose names begin with {@code push}. Returns empty if the address is not
   * set.
   *
   * @param service the label {@code service_name}, unless the labels contain it
   * @throws InvalidSettingException for a value that is not allowed
   */
  public static Optional<PushOptions> of(MallometerOptions options, String service) {
    String url = options.find(Setting.PUSH_URL).orElse("");
    if (url.isBlank()) {
      return Optional.empty();
    }
    Optional<String> username = options.find(Setting.PUSH_USERNAME);
    Optional<String> password = options.find(Setting.PUSH_PASSWORD);
    Optional<Path> tokenFile = options.find(Setting.PUSH_TOKEN_FILE);
    if (username.isPresent() != password.isPresent()) {
      throw Setting.PUSH_USERNAME.invalid(
          username.map(Setting.PUSH_USERNAME::shown).orElse(""),
          "must be given together with push.password");
    }
    if (username.isPresent() && tokenFile.isPresent()) {
      throw Setting.PUSH_USERNAME.invalid(
          Setting.PUSH_USERNAME.shown(username.get()),
          "must not be given together with push.token-file");
    }
    Map<String, String> labels = new LinkedHashMap<>();
    labels.put("service_name", service);
    @Nullable String host = System.getenv("HOSTNAME");
    if (host != null && !host.isEmpty()) {
      labels.put("hostname", host);
    }
    options
        .get(Setting.PUSH_LABELS)
        .forEach((name, value) -> labels.put(label(name, value), value));
    return Optional.of(
        new PushOptions(
            address(url),
            options.get(Setting.PUSH_INTERVAL),
            labels,
            username.map(user -> new Login(user, password.orElse(""))),
            tokenFile,
            options.find(Setting.PUSH_TENANT),
            options.find(Setting.PUSH_CERTIFICATES),
            Optional.empty()));
  }

  /** Returns these options with a supplier of the SSL context, which is called at each push. */
  public PushOptions withSslContext(Supplier<SSLContext> context) {
    return new PushOptions(
        url, interval, labels, login, tokenFile, tenant, certificates, Optional.of(context));
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
      // The exception below names the setting.
    }
    throw Setting.PUSH_URL.invalid(
        text.contains("@") ? "..." : text,
        text.contains("@")
            ? "must be an address without a user and a password, which push.username and"
                + " push.password are for"
            : "must be an address such as https://pyroscope:4040");
  }

  private static String label(String name, String value) {
    if (!name.matches("[a-zA-Z_][a-zA-Z0-9_]*")) {
      throw Setting.PUSH_LABELS.invalid(
          name + "=" + value, "must have names of letters, digits and underscores");
    }
    return name;
  }
}
