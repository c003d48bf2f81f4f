package io.mallometer.internal.text;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/**
 * A style or a script inside an HTML page, with the hash that admits it in the page's Content
 * Security Policy.
 *
 * @param text the text between the tags
 */
public record InlineText(String text) {

  /**
   * Reads the text from a resource of a class.
   *
   * @throws IllegalStateException if the resource is missing, because the jar is incomplete
   */
  public static InlineText of(Class<?> owner, String name) {
    try (InputStream in = owner.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException(name + " is missing beside " + owner.getName());
      }
      return new InlineText(new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new IllegalStateException(name + " cannot be read", e);
    }
  }

  /** Returns the source expression of a Content Security Policy that admits only this text. */
  public String source() {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return "'sha256-" + Base64.getEncoder().encodeToString(hash) + "'";
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
