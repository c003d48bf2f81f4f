package io.mallometer.model;

import java.time.Instant;
import java.util.List;

/**
 * A report of a monitor: a large request, or live bytes that exceeded a size.
 *
 * @param monitor the monitor
 * @param time the time of the request, or of the poll
 * @param bytes the requested bytes, or the live bytes
 * @param threadId the kernel's number of the requesting thread; 0 for live bytes
 * @param sentence the event as a sentence
 * @param details lines of text. A request has the frames of its native stack, innermost first, and
 *     then its possible call sites. Live bytes have the call sites with most live bytes. Empty if
 *     nothing is known
 */
public record MonitorEvent(
    MonitorOptions monitor,
    Instant time,
    long bytes,
    int threadId,
    String sentence,
    List<String> details) {

  public MonitorEvent {
    details = List.copyOf(details);
  }
}
