package io.mallometer.agent.payload.http;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The head of a request.
 *
 * @param method such as {@code GET}
 * @param path the decoded path, with its first slash
 * @param query the query of the address, still encoded; null if there is none
 * @param headers the headers by name, case-insensitive; repeated ones are joined by commas
 * @param lasting whether the connection stays open after the answer
 * @param chunks whether the client understands an answer in chunks
 */
public record Request(
    String method,
    String path,
    @Nullable String query,
    Map<String, String> headers,
    boolean lasting,
    boolean chunks) {

  private static final String NEWLINE = "\r\n";
  private static final int MOST_HEADERS = 100;

  private static final Pattern VERSION = Pattern.compile("HTTP/1\\.[01]");
  private static final Pattern ORIGIN =
      Pattern.compile("^https?://[^/?]*", Pattern.CASE_INSENSITIVE);
  private static final Pattern NAME = Pattern.compile("[!#-'*+.^-z|~0-9A-Z-]+");

  private static final Pattern CLOSE =
      Pattern.compile("(.*[, ])?close([, ].*)?", Pattern.CASE_INSENSITIVE);

  /**
   * The headers that announce a body. The server does not read bodies: it closes the connection
   * after the answer.
   */
  private static final List<String> OF_BODIES = List.of("Content-Length", "Transfer-Encoding");

  /**
   * Parses a head, without the empty line that ends it.
   *
   * @throws IllegalArgumentException if the version is neither HTTP/1.0 nor HTTP/1.1, or the head
   *     is malformed
   */
  static Request parse(String head) {
    String[] lines = head.split(NEWLINE);
    String[] words = lines[0].split(" ");
    if (words.length != 3 || !VERSION.matcher(words[2]).matches()) {
      throw new IllegalArgumentException("only HTTP/1.0 and HTTP/1.1 are understood");
    }
    Map<String, String> headers = headers(lines);
    String[] target = target(words[1]).split("\\?", 2);
    boolean since11 = words[2].endsWith("1");
    return new Request(
        words[0],
        decoded(target[0]),
        target.length > 1 ? target[1] : null,
        headers,
        since11 && !hasBody(headers) && !wantsToClose(headers),
        since11);
  }

  /** Returns the path and the query. Removes scheme and host, which clients send to a proxy. */
  private static String target(String asked) {
    String target = ORIGIN.matcher(asked).replaceFirst("");
    if (!target.startsWith("/")) {
      throw new IllegalArgumentException("'" + asked + "' is not a path");
    }
    return target;
  }

  private static String decoded(String path) {
    try {
      // URLDecoder would turn a plus sign into a blank, but a plus sign in a path stands for
      // itself.
      return URLDecoder.decode(path.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("'" + path + "' is not correctly URL-encoded", e);
    }
  }

  private static Map<String, String> headers(String[] lines) {
    if (lines.length > 1 + MOST_HEADERS) {
      throw new IllegalArgumentException("there are more than " + MOST_HEADERS + " headers");
    }
    Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    for (int i = 1; i < lines.length; i++) {
      int colon = lines[i].indexOf(':');
      if (colon < 1 || !NAME.matcher(lines[i].substring(0, colon)).matches()) {
        throw new IllegalArgumentException("line " + (i + 1) + " is not a header");
      }
      headers.merge(
          lines[i].substring(0, colon),
          lines[i].substring(colon + 1).strip(),
          (one, other) -> one + "," + other);
    }
    return headers;
  }

  private static boolean hasBody(Map<String, String> headers) {
    return OF_BODIES.stream().anyMatch(name -> !headers.getOrDefault(name, "0").equals("0"));
  }

  private static boolean wantsToClose(Map<String, String> headers) {
    return CLOSE.matcher(headers.getOrDefault("Connection", "")).matches();
  }

  /** Returns the value of a header; null if it is missing. */
  public @Nullable String header(String name) {
    return headers.get(name);
  }

  /** Returns whether the client wants only the head of the answer. */
  public boolean headOnly() {
    return method.equals("HEAD");
  }
}
