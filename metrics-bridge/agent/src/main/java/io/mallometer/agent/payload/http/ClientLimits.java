package io.mallometer.agent.payload.http;

import java.time.Duration;

/**
 * The limits for clients.
 *
 * @param patience the time limit for three waits: for a complete request (or TLS handshake) from
 *     the client, for a thread that answers the request, and for a client that receives the answer
 *     more slowly than {@code bytesPerSecond}
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
