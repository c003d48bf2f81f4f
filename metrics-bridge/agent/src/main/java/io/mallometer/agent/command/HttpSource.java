package io.mallometer.agent.command;

import java.io.Console;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.HttpURLConnection;
import java.net.MalformedURLException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.URL;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Optional;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * An agent's server, or the Actuator endpoint {@code nativememory}. If the address does not end in
 * {@code /nativememory}, the endpoint is also searched below {@code /actuator}.
 */
final class HttpSource implements Source {

  private static final String ROOT = "nativememory";
  private static final String PASSWORD = "MALLOMETER_PASSWORD";

  private static final String ACTUATOR = "/actuator/" + ROOT;

  private String base;
  private final String given;
  private boolean found;
  private final Optional<String> login;
  private final int timeoutMillis;

  /**
   * Creates the source for an HTTP address: that of an agent's server, or that of Spring Boot's
   * endpoint {@code nativememory}.
   *
   * @param user the name for the login; empty for none
   */
  HttpSource(String address, String user, Duration timeout) throws Failure {
    String trimmed = address.replaceAll("/+$", "");
    this.given = trimmed;
    this.found = trimmed.endsWith("/" + ROOT);
    this.base = found ? trimmed : trimmed + "/" + ROOT;
    this.login = user.isEmpty() ? Optional.empty() : Optional.of(login(user));
    this.timeoutMillis = (int) Math.min(Integer.MAX_VALUE, timeout.toMillis());
  }

  private static String login(String user) throws Failure {
    @Nullable String password = System.getenv(PASSWORD);
    @Nullable Console console = System.console();
    if (password == null && console != null) {
      char[] typed = console.readPassword("Password of %s: ", user);
      password = typed == null ? null : new String(typed);
    }
    if (password == null) {
      throw new Failure(
          ExitCode.NOT_ALLOWED, "the password of " + user + " is missing; set " + PASSWORD);
    }
    byte[] both = (user + ":" + password).getBytes(StandardCharsets.UTF_8);
    return "Basic " + Base64.getEncoder().encodeToString(both);
  }

  @Override
  public String name() {
    return base;
  }

  @Override
  public Reply get(String what) throws Failure, IOException {
    return ask("GET", what.equals(ROOT) ? "" : "/" + what);
  }

  @Override
  public Reply post(String what) throws Failure, IOException {
    return ask("POST", "/" + what);
  }

  @Override
  public void close() {
    // Does nothing, because each question has a connection of its own.
  }

  /** Finds out whether the endpoint is below the address (an agent's server) or below /actuator. */
  private void find() throws Failure, IOException {
    if (found) {
      return;
    }
    found = true;
    String below = base;
    if (!answers(below)) {
      base = given + ACTUATOR;
      base = answers(base) ? base : below;
    }
  }

  private boolean answers(String address) throws Failure, IOException {
    base = address;
    HttpURLConnection connection = connection("GET", "");
    try {
      return connection.getResponseCode() == HttpURLConnection.HTTP_OK
          && String.valueOf(connection.getContentType()).contains("json");
    } catch (IOException e) {
      return true; // the caller's own request then reports the failure
    } finally {
      connection.disconnect();
    }
  }

  private HttpURLConnection connection(String method, String path) throws Failure, IOException {
    HttpURLConnection connection = connection(path);
    connection.setRequestMethod(method);
    connection.setConnectTimeout(timeoutMillis);
    connection.setReadTimeout(timeoutMillis);
    connection.setInstanceFollowRedirects(false);
    login.ifPresent(header -> connection.setRequestProperty("Authorization", header));
    return connection;
  }

  private Reply ask(String method, String path) throws Failure, IOException {
    find();
    HttpURLConnection connection = connection(method, path);
    if (method.equals("POST")) {
      // The Actuator would read the body of a POST without a content type as a form.
      connection.setRequestProperty("Content-Type", "application/json");
      connection.setRequestProperty("X-Mallometer", "command");
      connection.setFixedLengthStreamingMode(0);
      connection.setDoOutput(true);
    }
    try {
      int status = connection.getResponseCode();
      if (status != HttpURLConnection.HTTP_OK) {
        throw refused(connection, status);
      }
      return new Reply(String.valueOf(connection.getContentType()), connection.getInputStream());
    } catch (SocketTimeoutException e) {
      throw new Failure(ExitCode.NO_ANSWER, base + " does not answer; wait longer with --timeout");
    } catch (SSLException e) {
      throw new Failure(
          ExitCode.FAILED,
          base
              + ": "
              + e.getMessage()
              + "; trust its certificate with JDK_JAVA_OPTIONS=-Djavax.net.ssl.trustStore=FILE");
    } catch (ConnectException | UnknownHostException e) {
      throw new Failure(
          ExitCode.GONE,
          base + " is not there (" + e.getMessage() + "); set the agent's option port");
    }
  }

  private HttpURLConnection connection(String path) throws Failure, IOException {
    try {
      URL url = URI.create(base + path.replace(" ", "%20")).toURL();
      return (HttpURLConnection) url.openConnection();
    } catch (IllegalArgumentException | MalformedURLException | ClassCastException e) {
      throw new Failure(ExitCode.USAGE, "\"" + base + "\" is not an address");
    }
  }

  private Failure refused(HttpURLConnection connection, int status) throws IOException {
    if (status == HttpURLConnection.HTTP_UNAUTHORIZED) {
      return Source.refusal(
          status, base + " requires a login; use --user NAME with the password in " + PASSWORD);
    }
    String otherwise =
        base + " answered with status " + status + "; check that it is the address of mallometer";
    try (@Nullable InputStream body = connection.getErrorStream()) {
      String text = body == null ? "" : new String(body.readAllBytes(), StandardCharsets.UTF_8);
      return Source.refusal(status, Source.reason(text, otherwise));
    }
  }
}
