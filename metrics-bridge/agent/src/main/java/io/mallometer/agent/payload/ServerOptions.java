package io.mallometer.agent.payload;

import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How to serve.
 *
 * @param host the address to listen on; the loopback address unless said otherwise
 * @param port the port to listen on; 0 for any that is free
 * @param trimming whether a POST may trim
 * @param searching whether a POST may search the Java heap for owners
 * @param login who may ask; empty for everybody
 * @param certificate what to show clients; empty for plain HTTP
 * @param given all options of the agent, by name, secrets included
 */
record ServerOptions(
    String host,
    int port,
    boolean trimming,
    boolean searching,
    Optional<Login> login,
    Optional<Certificate> certificate,
    Map<String, String> given) {

  private static final String LOOPBACK = "127.0.0.1";
  private static final String LOGIN = "httpServer.authentication.basic.";
  private static final String TLS = "httpServer.ssl.";

  /**
   * A name and a password, or what was made of one.
   *
   * @param user the name
   * @param password as it is, or as hexadecimal digits, with or without colons
   * @param algorithm by which it was made; {@code plaintext}, {@code SHA-256} or its like, {@code
   *     PBKDF2WithHmacSHA256} or its like
   * @param salt what was mixed in
   * @param iterations how often; 0 for the algorithm's usual number
   */
  record Login(String user, String password, String algorithm, String salt, int iterations) {}

  /**
   * A certificate in a key store.
   *
   * @param keyStore the file, in any format that the JDK reads
   * @param password of the file and of the key
   * @param alias which entry; empty for any
   */
  record Certificate(String keyStore, String password, String alias) {}

  /**
   * The options that were given, by name.
   *
   * @throws IllegalArgumentException if some belong together and are not
   */
  static ServerOptions of(Map<String, String> options) {
    return new ServerOptions(
        options.getOrDefault("host", LOOPBACK),
        Integer.parseInt(options.getOrDefault("port", "0")),
        options.getOrDefault("trim", "false").equals("true"),
        options.getOrDefault("owners", "false").equals("true"),
        login(options),
        certificate(options),
        Map.copyOf(options));
  }

  private static boolean hasAny(Map<String, String> options, String beginning) {
    for (String name : options.keySet()) {
      if (name.startsWith(beginning)) {
        return true;
      }
    }
    return false;
  }

  private static Optional<Login> login(Map<String, String> options) {
    if (!hasAny(options, LOGIN)) {
      return Optional.empty();
    }
    String algorithm = options.getOrDefault(LOGIN + "algorithm", Password.PLAIN);
    boolean plain = algorithm.equals(Password.PLAIN);
    return Optional.of(
        new Login(
            required(options, LOGIN + "username"),
            required(options, LOGIN + (plain ? "password" : "passwordHash")),
            algorithm,
            plain ? "" : required(options, LOGIN + "salt"),
            Integer.parseInt(options.getOrDefault(LOGIN + "iterations", "0"))));
  }

  private static Optional<Certificate> certificate(Map<String, String> options) {
    if (!hasAny(options, TLS)) {
      return Optional.empty();
    }
    return Optional.of(
        new Certificate(
            required(options, TLS + "keyStore.filename"),
            required(options, TLS + "keyStore.password"),
            options.getOrDefault(TLS + "certificate.alias", "")));
  }

  private static String required(Map<String, String> options, String name) {
    @Nullable String value = options.get(name);
    if (value == null) {
      throw new IllegalArgumentException(name + " is missing");
    }
    return value;
  }
}
