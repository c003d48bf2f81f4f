package io.mallometer.agent.payload;

import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;
import java.util.Map;
import java.util.Optional;

/**
 * The options of the server.
 *
 * @param host the address to listen on
 * @param port the port to listen on; 0 for any free one
 * @param trimming whether clients may make the allocator return memory, and mark leaks as
 *     acknowledged
 * @param searching whether clients may search the Java heap for owners of native memory
 * @param login the login that clients need; empty for none
 * @param certificate the certificate for HTTPS; empty for plain HTTP
 * @param given all options of the agent by name, secrets included
 */
record ServerOptions(
    String host,
    int port,
    boolean trimming,
    boolean searching,
    Optional<Login> login,
    Optional<Certificate> certificate,
    Map<String, String> given) {

  /**
   * A name and a password or its hash.
   *
   * @param user the name
   * @param password the password, or its hash as hexadecimal digits with or without colons
   * @param algorithm the hash algorithm, such as {@code SHA-256} or {@code PBKDF2WithHmacSHA256};
   *     {@code plaintext} for none
   * @param salt the salt of the hash
   * @param iterations the iterations of the hash; 0 for the algorithm's usual number
   */
  record Login(String user, String password, String algorithm, String salt, int iterations) {}

  /**
   * A certificate in a key store.
   *
   * @param keyStore the file, in any format that the JDK reads
   * @param password the password of the file and of the key
   * @param alias the name of the entry; empty for any
   */
  record Certificate(String keyStore, String password, String alias) {}

  /**
   * Reads the settings.
   *
   * @throws IllegalArgumentException if one option lacks another that it needs
   */
  static ServerOptions of(MallometerOptions settings, Map<String, String> given) {
    return new ServerOptions(
        settings.get(Setting.HOST),
        settings.find(Setting.PORT).orElse(0),
        settings.get(Setting.ALLOW_TRIM),
        settings.get(Setting.ALLOW_OWNERS),
        login(settings),
        certificate(settings),
        Map.copyOf(given));
  }

  private static Optional<Login> login(MallometerOptions settings) {
    String algorithm = settings.get(Setting.HTTP_ALGORITHM);
    boolean plain = algorithm.equals(Password.PLAIN);
    if (plain
        && settings.find(Setting.HTTP_USERNAME).isEmpty()
        && settings.find(Setting.HTTP_PASSWORD).isEmpty()
        && settings.find(Setting.HTTP_PASSWORD_HASH).isEmpty()
        && settings.find(Setting.HTTP_SALT).isEmpty()
        && settings.find(Setting.HTTP_ITERATIONS).isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        new Login(
            settings.get(Setting.HTTP_USERNAME),
            settings.get(plain ? Setting.HTTP_PASSWORD : Setting.HTTP_PASSWORD_HASH),
            algorithm,
            plain ? "" : settings.get(Setting.HTTP_SALT),
            settings.find(Setting.HTTP_ITERATIONS).orElse(0)));
  }

  private static Optional<Certificate> certificate(MallometerOptions settings) {
    if (settings.find(Setting.HTTP_KEY_STORE).isEmpty()
        && settings.find(Setting.HTTP_KEY_STORE_PASSWORD).isEmpty()
        && settings.find(Setting.HTTP_CERTIFICATE_ALIAS).isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        new Certificate(
            settings.get(Setting.HTTP_KEY_STORE).toString(),
            settings.get(Setting.HTTP_KEY_STORE_PASSWORD),
            settings.find(Setting.HTTP_CERTIFICATE_ALIAS).orElse("")));
  }
}
