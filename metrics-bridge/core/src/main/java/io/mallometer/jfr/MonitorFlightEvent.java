package io.mallometer.jfr;

import io.mallometer.model.MonitorEvent;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** An event of a monitor, committed at the poll that detected it. */
@Name(NativeMemoryEvents.MONITOR)
@Label("Native Memory Monitor")
@Category({"Java Application", "mallometer"})
@Description("A large request for native memory, or a size of live memory that was exceeded")
@StackTrace(false)
final class MonitorFlightEvent extends Event {

  @Label("Monitor")
  String monitor = "";

  @Label("Bytes")
  @Description("What was requested, or what was live")
  @DataAmount
  long bytes;

  @Label("Sentence")
  String sentence = "";

  @Label("Details")
  @Description("The native stack of the request, or the call sites with most live bytes, by line")
  String details = "";

  static MonitorFlightEvent of(MonitorEvent seen) {
    MonitorFlightEvent event = new MonitorFlightEvent();
    event.monitor = seen.monitor().toString();
    event.bytes = seen.bytes();
    event.sentence = seen.sentence();
    event.details = String.join("\n", seen.details());
    return event;
  }
}
