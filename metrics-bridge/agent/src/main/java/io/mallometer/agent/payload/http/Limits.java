package io.mallometer.agent.payload.http;

import java.time.Duration;

/**
 * How long clients may take, and how many there may be.
 *
 * @param patience how long a client may take to send a request from its first byte on, with the
 *     handshake of TLS before it; how long a request may wait for a thread; and how long a client
 *     may take less of an answer than {@code bytesPerSecond}
 * @param idle how long a connection is kept on which no request comes
 * @param bytesPerSecond how much of an answer a client has to take
 * @param connections how many connections there may be; one more ends that which has kept the
 *     server waiting longest
 */
public record Limits(Duration patience, Duration idle, int bytesPerSecond, int connections) {

  /** For a scraper, a few people and their pages, in a process that has other things to do. */
  public static Limits usual() {
    return new Limits(Duration.ofSeconds(10), Duration.ofSeconds(30), 64 * 1024, 256);
  }
}
