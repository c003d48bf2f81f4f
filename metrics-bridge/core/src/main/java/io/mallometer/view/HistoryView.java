package io.mallometer.view;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.COUNT;

import io.mallometer.model.ChargedPart;
import io.mallometer.model.Figure;
import io.mallometer.model.HistoryPoint;
import io.mallometer.model.MemoryMoment;
import io.mallometer.model.ResidentPart;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The answer of {@code nativememory/history}: the last hour in columns, for charts. Each column has
 * one number for each element of {@code times}; unknown numbers are {@code NaN} or null.
 */
public record HistoryView(
    @Figure("Where the memory was") Memory memory, @Figure("What was counted") Malloc malloc)
    implements View {

  /**
   * The parts of the memory: a point every 15 s in the latest five minutes, and every minute
   * before.
   */
  public record Memory(
      @Figure("Milliseconds since 1970") List<Long> times,
      @Figure(value = "The cgroup's limit", unit = BYTES) List<Double> limitBytes,
      @Figure(value = "The sum of the resident parts", unit = BYTES) List<Double> residentBytes,
      @Figure(value = "The sum of what is charged by part", unit = BYTES) List<Double> chargedBytes,
      @Figure("The resident set by part, those parts that were ever known") List<Column> resident,
      @Figure("The cgroup by part") List<Column> charged) {

    private static Memory of(List<MemoryMoment> moments) {
      return new Memory(
          moments.stream().map(moment -> moment.time().toEpochMilli()).toList(),
          figures(moments, MemoryMoment::limitBytes),
          figures(moments, moment -> sum(moment.resident())),
          figures(moments, moment -> sum(moment.charged())),
          Arrays.stream(ResidentPart.values())
              .filter(part -> moments.stream().anyMatch(one -> one.resident().containsKey(part)))
              .map(part -> column(part.tag(), moments, moment -> moment.resident().get(part)))
              .toList(),
          Arrays.stream(ChargedPart.values())
              .filter(part -> moments.stream().anyMatch(one -> one.charged().containsKey(part)))
              .map(part -> column(part.tag(), moments, moment -> moment.charged().get(part)))
              .toList());
    }

    private static double sum(Map<?, Long> parts) {
      return parts.isEmpty()
          ? Double.NaN
          : parts.values().stream().mapToLong(Long::longValue).sum();
    }

    private static Column column(
        String name, List<MemoryMoment> moments, Function<MemoryMoment, @Nullable Long> figure) {
      return new Column(name, moments.stream().map(figure).toList());
    }
  }

  /** A part of the memory, with a value for each time. */
  public record Column(
      @Figure("The part, as in the tag part") String name,
      @Figure(value = "At each time", unit = BYTES) List<@Nullable Long> bytes) {}

  /**
   * The counts of malloc: each poll in the latest five minutes, every ten seconds in the ten
   * minutes before, and every minute before that. A rate covers the time since the previous point.
   */
  public record Malloc(
      @Figure("Milliseconds since 1970") List<Long> times,
      @Figure(value = "Bytes in use", unit = BYTES) List<Double> liveBytes,
      @Figure(value = "Objects in use", unit = COUNT) List<Double> liveObjects,
      @Figure(value = "The resident set", unit = BYTES) List<Double> residentBytes,
      @Figure(value = "Allocations", unit = COUNT) List<Double> allocationsPerSecond,
      @Figure(value = "Bytes handed out", unit = BYTES) List<Double> allocatedBytesPerSecond) {

    private static Malloc of(List<HistoryPoint> points) {
      return new Malloc(
          points.stream().map(point -> point.time().toEpochMilli()).toList(),
          figures(points, HistoryPoint::liveBytes),
          figures(points, HistoryPoint::liveObjects),
          figures(points, HistoryPoint::residentBytes),
          perSecond(points, HistoryPoint::allocations),
          perSecond(points, HistoryPoint::allocatedBytes));
    }
  }

  static HistoryView of(List<MemoryMoment> moments, List<HistoryPoint> points) {
    return new HistoryView(Memory.of(moments), Malloc.of(points));
  }

  private static <T> List<Double> figures(List<T> points, ToDoubleFunction<T> figure) {
    return points.stream().mapToDouble(figure).boxed().toList();
  }

  private static List<Double> perSecond(
      List<HistoryPoint> points, ToDoubleFunction<HistoryPoint> counter) {
    return IntStream.range(0, points.size())
        .mapToObj(i -> i == 0 ? Double.NaN : rate(points.get(i - 1), points.get(i), counter))
        .toList();
  }

  private static double rate(
      HistoryPoint before, HistoryPoint after, ToDoubleFunction<HistoryPoint> counter) {
    double seconds = Duration.between(before.time(), after.time()).toNanos() / 1e9;
    double rate = (counter.applyAsDouble(after) - counter.applyAsDouble(before)) / seconds;
    return seconds > 0 && rate >= 0 ? Math.rint(rate) : Double.NaN;
  }
}
