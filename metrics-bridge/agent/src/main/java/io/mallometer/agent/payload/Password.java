package io.mallometer.agent.payload;

import io.mallometer.agent.payload.ServerOptions.Login;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;

/**
 * Checks a name and a password. The hash algorithms and the use of the salt are those of
 * jmx_exporter, so that its settings can be reused.
 */
final class Password {

  static final String PLAIN = "plaintext";

  /** The value of the header {@code WWW-Authenticate} for a client without credentials. */
  static final String CHALLENGE = "Basic realm=\"mallometer\", charset=\"UTF-8\"";

  private static final String SCHEME = "Basic ";
  private static final String SLOW = "PBKDF2";

  private final Login login;
  private final byte[] expected;

  /**
   * The right password, once a client has sent it. Comparing later requests with it avoids the slow
   * hash.
   */
  private volatile Optional<String> known = Optional.empty();

  /**
   * Throws an {@code IllegalArgumentException} if the algorithm does not exist or the hash is
   * malformed.
   */
  Password(Login login) {
    this.login = login;
    this.expected =
        login.algorithm().equals(PLAIN)
            ? login.password().getBytes(StandardCharsets.UTF_8)
            : HexFormat.of().parseHex(login.password().replace(":", "").toLowerCase(Locale.ROOT));
    requireAlgorithm();
  }

  /**
   * Returns whether the header {@code Authorization} contains the user name and a password that an
   * earlier check has admitted. Computes no hash.
   */
  boolean knows(String authorization) {
    return credentials(authorization)
        .filter(both -> known.filter(both.password()::equals).isPresent())
        .filter(both -> equal(both.user(), login.user()))
        .isPresent();
  }

  /**
   * Returns whether the header {@code Authorization} contains the user name and the password.
   * Hashing takes up to 0.5 s.
   */
  boolean admits(String authorization) {
    return credentials(authorization)
        .filter(both -> checkCredentials(both.user(), both.password()))
        .isPresent();
  }

  private record Credentials(String user, String password) {}

  private static Optional<Credentials> credentials(String authorization) {
    if (!authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
      return Optional.empty();
    }
    try {
      byte[] both = Base64.getDecoder().decode(authorization.substring(SCHEME.length()).strip());
      String[] parts = new String(both, StandardCharsets.UTF_8).split(":", 2);
      return parts.length < 2 ? Optional.empty() : Optional.of(new Credentials(parts[0], parts[1]));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  boolean checkCredentials(String user, String password) {
    boolean right =
        known.filter(password::equals).isPresent()
            || MessageDigest.isEqual(expected, made(password));
    if (right) {
      known = Optional.of(password);
    }
    return right & equal(user, login.user());
  }

  private static boolean equal(String one, String other) {
    return MessageDigest.isEqual(
        one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
  }

  private void requireAlgorithm() {
    try {
      if (login.algorithm().startsWith(SLOW)) {
        SecretKeyFactory.getInstance(login.algorithm());
      } else if (!login.algorithm().equals(PLAIN)) {
        MessageDigest.getInstance(login.algorithm());
      }
    } catch (GeneralSecurityException e) {
      throw new IllegalArgumentException("there is no algorithm " + login.algorithm(), e);
    }
  }

  private byte[] made(String password) {
    try {
      if (login.algorithm().equals(PLAIN)) {
        return password.getBytes(StandardCharsets.UTF_8);
      }
      return login.algorithm().startsWith(SLOW) ? derived(password) : digested(password);
    } catch (GeneralSecurityException e) {
      throw new IllegalArgumentException("algorithm " + login.algorithm() + ": " + e.getMessage());
    }
  }

  private byte[] digested(String password) throws GeneralSecurityException {
    return MessageDigest.getInstance(login.algorithm())
        .digest((login.salt() + ":" + password).getBytes(StandardCharsets.UTF_8));
  }

  private byte[] derived(String password) throws GeneralSecurityException {
    PBEKeySpec specification =
        new PBEKeySpec(
            password.toCharArray(),
            login.salt().getBytes(StandardCharsets.UTF_8),
            iterations(),
            Math.max(1, expected.length) * Byte.SIZE);
    return SecretKeyFactory.getInstance(login.algorithm())
        .generateSecret(specification)
        .getEncoded();
  }

  /** Returns the number of iterations; jmx_exporter's if none is given. */
  private int iterations() {
    if (login.iterations() > 0) {
      return login.iterations();
    }
    return switch (login.algorithm()) {
      case "PBKDF2WithHmacSHA1" -> 1_300_000;
      case "PBKDF2WithHmacSHA512" -> 210_000;
      default -> 600_000;
    };
  }
}
