package io.mallometer.model;

import java.time.Instant;
import java.util.List;

/**
 * An event of a monitor.
 *
 * @param monitor the monitor
 * @param time the time of the request, or of the poll that saw the size exceeded
 * @param bytes the requested bytes, or the live bytes
 * @param threadId the kernel's number of the requesting thread; 0 if the event is not of a request
 * @param sentence the event as a sentence
 * @param details lines of text. For a request they have its native stack, innermost frame first,
 *     and its possible call sites; for live bytes, the call sites with most live bytes, most first.
 *     Empty if nothing is known
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
