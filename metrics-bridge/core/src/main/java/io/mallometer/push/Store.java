package io.mallometer.push;

import io.mallometer.internal.text.ProtobufMessage;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Base64;
import java.util.Map;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * The push service of a Pyroscope server. Each push is a POST request of the Connect protocol; its
 * body is a {@code push.v1.PushRequest} message with one series.
 *
 * <p>Requests use {@link HttpURLConnection}, because it starts no thread and needs only the module
 * {@code java.base}.
 */
final class Store {

  private static final String PATH = "/push.v1.PusherService/Push";
  private static final int TIMEOUT_MILLIS = 10_000;
  private static final int LONGEST_ANSWER = 64 << 10;
  private static final int LONGEST_REASON = 200;

  private static final int OK = 200;
  private static final int REQUEST_TIMEOUT = 408;
  private static final int TOO_MANY = 429;
  private static final int SERVER_ERROR = 500;

  private final PushOptions options;

  private volatile @Nullable HttpURLConnection open;

  Store(PushOptions options) {
    this.options = options;
  }

  /**
   * Sends a profile.
   *
   * @return the reason why the store rejected the profile permanently; empty if the store accepted
   *     it
   * @throws IOException if the profile can be sent again later
   */
  String push(byte[] profile) throws IOException {
    HttpURLConnection connection = connect();
    open = connection;
    try {
      return push(profile, connection);
    } finally {
      open = null;
      connection.disconnect();
    }
  }

  /** Closes the connection of the current push, if there is one, so that the push fails. */
  void disconnect() {
    HttpURLConnection connection = open;
    if (connection != null) {
      try {
        connection.disconnect();
      } catch (NullPointerException e) {
        // The pushing thread has closed the connection at the same time, and HttpURLConnection is
        // not thread-safe.
      }
    }
  }

  private String push(byte[] profile, HttpURLConnection connection) throws IOException {
    try (OutputStream body = connection.getOutputStream()) {
      request(profile).moveTo(body);
    }
    int status = connection.getResponseCode();
    String answer = answer(connection, status);
    if (status == OK) {
      return "";
    }
    String reason = "status " + status + (answer.isEmpty() ? "" : ": " + answer);
    if (status >= SERVER_ERROR || status == REQUEST_TIMEOUT || status == TOO_MANY) {
      throw new IOException(reason);
    }
    return reason;
  }

  private HttpURLConnection connect() throws IOException {
    URI url = options.url();
    String path = url.getRawPath() == null ? "" : url.getRawPath().replaceAll("/+$", "");
    URL address = new URL(url.getScheme() + "://" + url.getRawAuthority() + path + PATH);
    HttpURLConnection connection = (HttpURLConnection) address.openConnection();
    if (connection instanceof HttpsURLConnection secured) {
      if (options.sslContext().isPresent()) {
        secured.setSSLSocketFactory(options.sslContext().get().get().getSocketFactory());
      } else if (options.certificates().isPresent()) {
        secured.setSSLSocketFactory(trusting(options.certificates().get()));
      }
    }
    connection.setConnectTimeout(TIMEOUT_MILLIS);
    connection.setReadTimeout(TIMEOUT_MILLIS);
    // A redirection would forward the credentials.
    connection.setInstanceFollowRedirects(false);
    connection.setRequestMethod("POST");
    connection.setDoOutput(true);
    // An open socket would prevent a checkpoint of the JVM, so the server is asked to close the
    // connection. disconnect() is not enough: after a response without a body, the JDK keeps the
    // socket open for reuse.
    connection.setRequestProperty("Connection", "close");
    connection.setRequestProperty("Content-Type", "application/proto");
    connection.setRequestProperty("Connect-Protocol-Version", "1");
    connection.setRequestProperty("User-Agent", "mallometer");
    if (options.tenant().isPresent()) {
      header(connection, "X-Scope-OrgID", options.tenant().get(), "push.tenant");
    }
    if (options.login().isPresent()) {
      PushOptions.Login login = options.login().get();
      byte[] pair = (login.user() + ":" + login.password()).getBytes(StandardCharsets.UTF_8);
      connection.setRequestProperty(
          "Authorization", "Basic " + Base64.getEncoder().encodeToString(pair));
    }
    if (options.tokenFile().isPresent()) {
      String token = Files.readString(options.tokenFile().get()).strip();
      header(connection, "Authorization", "Bearer " + token, "the content of push.token-file");
    }
    return connection;
  }

  /**
   * Sets a header. Refuses control characters here, because the JDK's exception would quote the
   * secret value.
   */
  private static void header(HttpURLConnection connection, String name, String value, String option)
      throws IOException {
    if (value.chars().anyMatch(Character::isISOControl)) {
      throw new IOException(option + " must be one line without control characters");
    }
    connection.setRequestProperty(name, value);
  }

  private static SSLSocketFactory trusting(Path certificates) throws IOException {
    try (InputStream pem = Files.newInputStream(certificates)) {
      KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
      trusted.load(null, null);
      for (Certificate certificate :
          CertificateFactory.getInstance("X.509").generateCertificates(pem)) {
        trusted.setCertificateEntry(String.valueOf(trusted.size()), certificate);
      }
      TrustManagerFactory managers =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      managers.init(trusted);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, managers.getTrustManagers(), null);
      return context.getSocketFactory();
    } catch (GeneralSecurityException e) {
      throw new IOException(certificates + ": " + e.getMessage(), e);
    }
  }

  /**
   * Returns the request. The label {@code __delta__=false} keeps the store from subtracting
   * successive values, because the values are differences already.
   */
  private ProtobufMessage request(byte[] profile) {
    ProtobufMessage series = new ProtobufMessage();
    series.message(1, label("__name__", "memory")).message(1, label("__delta__", "false"));
    for (Map.Entry<String, String> label : options.labels().entrySet()) {
      series.message(1, label(label.getKey(), label.getValue()));
    }
    series.message(2, new ProtobufMessage().bytes(1, profile));
    return new ProtobufMessage().message(1, series);
  }

  private static ProtobufMessage label(String name, String value) {
    return new ProtobufMessage().text(1, name).text(2, value);
  }

  private static String answer(HttpURLConnection connection, int status) throws IOException {
    try (InputStream body =
        status >= 400 ? connection.getErrorStream() : connection.getInputStream()) {
      if (body == null) {
        return "";
      }
      String text = new String(body.readNBytes(LONGEST_ANSWER), StandardCharsets.UTF_8);
      String line = text.replaceAll("\\p{Cc}", " ");
      return line.substring(0, Math.min(LONGEST_REASON, line.length()));
    }
  }
}
