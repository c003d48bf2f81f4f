package io.mallometer.agent.payload.http;

import java.time.Duration;

/**
 * The limits for clients.
 *
 * @param patience the time limit for receiving a request with the TLS handshake, for the wait of a
 *     request for a thread, and for the delay of a client that receives less than {@code
 *     bytesPerSecond}
 * @param idle the longest time without a request on a connection
 * @param bytesPerSecond the lowest rate at which a client may receive an answer
 * @param connections the largest number of connections; a further one replaces the connection that
 *     has kept the server waiting longest
 */
public record ClientLimits(Duration patience, Duration idle, int bytesPerSecond, int connections) {

  /** Returns limits for a scraper and a few people, in a process that has other work to do. */
  public static ClientLimits usual() {
    return new ClientLimits(Duration.ofSeconds(10), Duration.ofSeconds(30), 64 * 1024, 256);
  }
}
