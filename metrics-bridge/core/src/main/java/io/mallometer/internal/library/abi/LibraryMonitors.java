package io.mallometer.internal.library.abi;

import io.mallometer.internal.library.RequestWatch;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.SizeDistribution;
import io.mallometer.model.StackFrame;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Makes the library watch large requests, or count the sizes that the allocator hands out, for as
 * long as a caller wants this.
 */
final class LibraryMonitors {

  /** The library stores only this many huge requests: the latest ones. */
  static final int MOST_EVENTS = 64;

  private static final long NANOS = 1_000_000_000L;

  /**
   * The number of allocations in each size class, which the library increments. The memory is never
   * freed, because a late callback may still write to it.
   */
  private final ByteBuffer counts = Structs.keep(SizeDistribution.CLASSES * Long.BYTES);

  /** The number of callers that want the counts. Guarded by this, as is {@link #number}. */
  private int users;

  private int number;

  RequestWatch watch(
      long bytes, int thread, Function<long[], List<StackFrame>> frames, Supplier<String> status) {
    // The buffer for readings is allocated before the watch opens, so that the watch does not
    // report the allocation of the buffer.
    ByteBuffer events = Structs.keep(MOST_EVENTS * Abi.Event.BYTES);
    int opened = LibraryFunctions.mallometer_threshold_open(bytes, thread);
    if (opened > 0) {
      return new LibraryWatch(opened, events, frames);
    }
    Structs.free(events);
    return RequestWatch.none(reason(opened, "8 thresholds are open: close one", status));
  }

  static HugeAllocation request(Abi.Event event) {
    long time = event.realtimeNs();
    return new HugeAllocation(
        event.number(),
        Instant.ofEpochSecond(time / NANOS, time % NANOS),
        event.requestedBytes(),
        event.threadId(),
        event.threadName());
  }

  static long[] stack(Abi.Event event) {
    long[] stack = new long[Math.max(0, Math.min(Abi.EVENT_FRAMES, event.frames()))];
    for (int i = 0; i < stack.length; i++) {
      stack[i] = event.stack(i);
    }
    return stack;
  }

  private static String reason(int result, String tooMany, Supplier<String> status) {
    return result == Errno.EAGAIN ? tooMany : status.get();
  }

  synchronized String countReturned(boolean wanted, Supplier<String> status) {
    if (!wanted) {
      users--;
      if (users == 0) {
        unregister();
      }
      return "";
    }
    String reason = users > 0 ? "" : register(status);
    users += reason.isEmpty() ? 1 : 0;
    return reason;
  }

  private String register(Supplier<String> status) {
    long allocated = LibraryCalls.address("mallometer_count_actual");
    int registered =
        Structs.with(
            Abi.Monitor.BYTES,
            monitor -> {
              monitor.putLong(Abi.Monitor.CONTEXT_AT, Structs.address(counts));
              monitor.putLong(Abi.Monitor.ALLOCATED_AT, allocated);
              return LibraryFunctions.mallometer_monitor_register(Structs.address(monitor));
            });
    if (registered > 0) {
      number = registered;
      return "";
    }
    return reason(registered, "8 monitors are registered: unregister one", status);
  }

  /** Unregisters the monitor. Each attempt waits up to a second for callbacks of other threads. */
  private void unregister() {
    int result = LibraryFunctions.mallometer_monitor_unregister(number);
    for (int again = 0; again < 2 && result == Errno.EBUSY; again++) {
      result = LibraryFunctions.mallometer_monitor_unregister(number);
    }
  }

  synchronized Optional<SizeDistribution> returned() {
    return users == 0
        ? Optional.empty()
        : Optional.of(SizeDistribution.of(i -> counts.getLong(i * Long.BYTES)));
  }

  private static final class LibraryWatch implements RequestWatch {
    private final int number;
    private final Function<long[], List<StackFrame>> frames;

    /** The requests that were read. Guarded by this; freed when the watch is closed. */
    private final ByteBuffer events;

    private boolean closed;

    LibraryWatch(int number, ByteBuffer events, Function<long[], List<StackFrame>> frames) {
      this.number = number;
      this.events = events;
      this.frames = frames;
    }

    @Override
    public String reason() {
      return "";
    }

    @Override
    public synchronized List<Request> read() {
      if (closed) {
        return List.of();
      }
      int count =
          LibraryFunctions.mallometer_threshold_read(
              number, Structs.address(events), MOST_EVENTS, 0);
      List<Request> requests = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        Abi.Event event = Abi.Event.row(events, i);
        requests.add(new Request(request(event), frames.apply(stack(event))));
      }
      return requests;
    }

    @Override
    public synchronized void close() {
      if (!closed) {
        closed = true;
        LibraryFunctions.mallometer_threshold_close(number);
        Structs.free(events);
      }
    }
  }
}
