package io.mallometer.agent.payload.http;

import java.time.Duration;

/**
 * The limits for clients.
 *
 * @param patience how long a client may take to send a request, with the TLS handshake; how long a
 *     request may wait for a thread; and how far a client may fall behind {@code bytesPerSecond}
 *     while it takes an answer
 * @param idle the longest time without a request on a connection
 * @param bytesPerSecond the rate at which a client has to take an answer
 * @param connections the largest number of connections; a further one closes the connection that
 *     has kept the server waiting longest
 */
public record ClientLimits(Duration patience, Duration idle, int bytesPerSecond, int connections) {

  /** Returns limits for a scraper and a few people, in a process that has other work to do. */
  public static ClientLimits usual() {
    return new ClientLimits(Duration.ofSeconds(10), Duration.ofSeconds(30), 64 * 1024, 256);
  }
}
