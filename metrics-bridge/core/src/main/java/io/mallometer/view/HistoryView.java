package io.mallometer.view;

import io.mallometer.model.ChargedPart;
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
 * Answer of {@code nativememory/history}: the last hour in columns, for charts. All columns under
 * one list of times are as long as that; what is unknown is {@code NaN} or null.
 *
 * @param memory where the memory was
 * @param malloc what was counted
 */
public record HistoryView(Memory memory, Malloc malloc) implements View {

  /**
   * Division of the memory: five minutes by 15 s, the rest by the minute.
   *
   * @param times milliseconds since 1970
   * @param limitBytes the cgroup's limit
   * @param residentBytes the sum of the resident parts
   * @param chargedBytes the sum of what is charged by part
   * @param resident the resident set by part, those parts that were ever known
   * @param charged the cgroup by part
   */
  public record Memory(
      List<Long> times,
      @Whole List<Double> limitBytes,
      @Whole List<Double> residentBytes,
      @Whole List<Double> chargedBytes,
      List<Column> resident,
      List<Column> charged) {

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

  /**
   * One part over time.
   *
   * @param name as in the tag {@code part}
   * @param bytes at each time
   */
  public record Column(String name, List<@Nullable Long> bytes) {}

  /**
   * Counts: five minutes by the poll, a quarter of an hour by ten seconds, the rest by the minute.
   * Rates are those since the time before.
   *
   * @param times milliseconds since 1970
   * @param liveBytes bytes in use
   * @param liveObjects objects in use
   * @param residentBytes the resident set
   * @param allocationsPerSecond allocations
   * @param allocatedBytesPerSecond bytes handed out
   */
  public record Malloc(
      List<Long> times,
      @Whole List<Double> liveBytes,
      @Whole List<Double> liveObjects,
      @Whole List<Double> residentBytes,
      @Whole List<Double> allocationsPerSecond,
      @Whole List<Double> allocatedBytesPerSecond) {

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
