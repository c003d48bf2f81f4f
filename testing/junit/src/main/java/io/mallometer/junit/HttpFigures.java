package io.mallometer.junit;

import io.mallometer.model.State;
import io.mallometer.model.Status;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * By the JSON of the agent's port or of the Actuator endpoint, which shows the latest poll: so a
 * reading waits for a poll that came after it was asked for.
 */
final class HttpFigures implements RemoteFigures {

  private static final int TIMEOUT_MILLIS = 10_000;
  private static final int PAUSE_MILLIS = 20;
  private static final long LONGEST_WAIT_NANOS = 60_000_000_000L;
  private static final double NANOS = 1e9;

  private final Supplier<String> address;

  HttpFigures(Supplier<String> address) {
    this.address = address;
  }

  @Override
  public Status status() throws IOException {
    String json = get();
    return new Status(
        State.valueOf(text(json, "state")), text(json, "reason"), text(json, "remedy"));
  }

  @Override
  public NativeUse read() throws IOException {
    long asked = System.nanoTime();
    String json = get();
    while (figure(json, "ageSeconds") > (System.nanoTime() - asked) / NANOS) {
      pause(asked);
      json = get();
    }
    return use(json);
  }

  private void pause(long asked) throws IOException {
    if (System.nanoTime() - asked > LONGEST_WAIT_NANOS) {
      throw new IOException(address.get() + " has not polled for a minute");
    }
    try {
      Thread.sleep(PAUSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  private static NativeUse use(String json) throws IOException {
    return new NativeUse(
        (long) figure(json, "total"),
        (long) figure(json, "small"),
        (long) figure(json, "large"),
        (long) figure(json, "requestedBytes"),
        (long) figure(json, "frees"),
        figure(json, "allocatedBytes") - figure(json, "freedBytes"),
        Double.NaN,
        Double.NaN);
  }

  private String get() throws IOException {
    HttpURLConnection connection =
        (HttpURLConnection) URI.create(address.get()).toURL().openConnection();
    connection.setConnectTimeout(TIMEOUT_MILLIS);
    connection.setReadTimeout(TIMEOUT_MILLIS);
    connection.setRequestProperty("Accept", "application/json");
    try (InputStream body = connection.getInputStream()) {
      return new String(body.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** The first value of that name: those that are read here come before others that share it. */
  static double figure(String json, String name) throws IOException {
    Matcher found = Pattern.compile("\"" + name + "\"\\s*:\\s*(-?[0-9.eE+-]+)").matcher(json);
    if (!found.find()) {
      throw new IOException(
          "the answer has no number '" + name + "'; check that this is mallometer's JSON");
    }
    return Double.parseDouble(found.group(1));
  }

  private static String text(String json, String name) throws IOException {
    Matcher found =
        Pattern.compile("\"" + name + "\"\\s*:\\s*\"((?:[^\"\\\\]|\\\\.)*)\"").matcher(json);
    if (!found.find()) {
      throw new IOException(
          "the answer has no text '" + name + "'; check that this is mallometer's JSON");
    }
    return found.group(1).replace("\\\"", "\"");
  }
}
