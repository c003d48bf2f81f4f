package io.mallometer.agent.payload.http;

import java.time.Duration;

/**
 * The limits for clients.
 *
 * @param patience the time limit for a request from its first byte on, including the TLS handshake;
 *     also for a request's wait for a thread, and for a client's delay behind {@code
 *     bytesPerSecond} while it takes an answer
 * @param idle the longest time without a request on a connection
 * @param bytesPerSecond the rate at which a client has to take an answer
 * @param connections the largest number of connections; a further one ends the connection that has
 *     kept the server waiting longest
 */
public record ClientLimits(Duration patience, Duration idle, int bytesPerSecond, int connections) {

  /** Returns limits for a scraper and a few people, in a process that has other work to do. */
  public static ClientLimits usual() {
    return new ClientLimits(Duration.ofSeconds(10), Duration.ofSeconds(30), 64 * 1024, 256);
  }
}
