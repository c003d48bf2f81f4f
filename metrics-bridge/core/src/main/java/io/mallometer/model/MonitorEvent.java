package io.mallometer.model;

import java.time.Instant;
import java.util.List;

/**
 * What a monitor has seen.
 *
 * @param monitor the monitor
 * @param time of the request, or of the poll that saw the crossing
 * @param bytes what was requested, or what was live
 * @param threadId the kernel's number of the thread that requested; 0 if the event is of none
 * @param sentence the same in words
 * @param details lines: the request's native stack, innermost frame first, and the call sites that
 *     it can be of; or the call sites with most live bytes, most first. Empty if nothing is known
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
