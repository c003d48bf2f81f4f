package io.mallometer.jfr;

import io.mallometer.model.CallSite;
import io.mallometer.model.StackFrame;
import java.util.stream.Collectors;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;

/**
 * A call site that is among those with the most live bytes. The stack is text, because Flight
 * Recorder's own stacks have no place for native frames.
 */
@Name(NativeMemoryEvents.CALL_SITE)
@Label("Native Call Site")
@Category({"Java Application", "mallometer"})
@Description("A call site that has live native memory, estimated from samples")
@Period("60 s")
@StackTrace(false)
final class CallSiteEvent extends Event {

  @Label("Rank")
  @Description("1 for the site with most live bytes")
  int rank;

  @Label("Number")
  @Description("The site's number, constant while the process lives")
  int number;

  @Label("Site")
  String site = "";

  @Label("Library")
  String library = "";

  @Label("Live")
  @Description("Live native memory, estimated")
  @DataAmount
  long liveBytes;

  @Label("Live, Low")
  @Description("The lower end of the 95 % interval")
  @DataAmount
  long liveBytesLow;

  @Label("Live, High")
  @Description("The upper end of the 95 % interval")
  @DataAmount
  long liveBytesHigh;

  @Label("Live Objects")
  @Description("Live native objects, estimated")
  long liveObjects;

  @Label("Allocated")
  @Description("Native memory allocated since the process started, estimated")
  @DataAmount
  long allocatedBytes;

  @Label("Samples")
  @Description("Number of sampled allocations")
  long samples;

  @Label("Stack")
  @Description("The stack, innermost frame first, a line for each frame")
  String stack = "";

  static CallSiteEvent of(int rank, CallSite site) {
    CallSiteEvent event = new CallSiteEvent();
    event.rank = rank;
    event.number = site.number();
    event.site = site.name();
    event.library = site.library();
    event.liveBytes = Math.round(site.liveBytes().value());
    event.liveBytesLow = Math.round(site.liveBytes().low());
    event.liveBytesHigh = Math.round(site.liveBytes().high());
    event.liveObjects = Math.round(site.liveObjects().value());
    event.allocatedBytes = Math.round(site.allocatedBytes().value());
    event.samples = site.samples();
    event.stack =
        site.frames().stream().map(StackFrame::toString).collect(Collectors.joining("\n"));
    return event;
  }
}
