package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.view.AllocatorView;
import io.mallometer.view.BreakdownView;
import io.mallometer.view.BudgetView;
import io.mallometer.view.CgroupView;
import io.mallometer.view.HistoryView;
import io.mallometer.view.LeaksView;
import io.mallometer.view.NativeMemoryView;
import io.mallometer.view.TrimView;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The names in the endpoint's answers, which scripts rely on: whoever changes one here breaks them.
 */
class AnswerNamesTest {

  /** By view; {@code parts.bytes} is a name within each element of the list {@code parts}. */
  static final Map<String, Class<?>> VIEWS =
      Map.of(
          "", NativeMemoryView.class,
          "/breakdown", BreakdownView.class,
          "/cgroup", CgroupView.class,
          "/budget", BudgetView.class,
          "/allocator", AllocatorView.class,
          "/history", HistoryView.class);

  static Stream<Arguments> answers() {
    return Stream.of(
        Arguments.of(
            NativeMemoryView.class,
            """
            state reason remedy time ageSeconds
            counters.allocations.total counters.allocations.small counters.allocations.large
            counters.frees counters.failed counters.requestedBytes counters.allocatedBytes
            counters.freedBytes counters.liveBytes counters.liveObjects counters.peakBytes
            counters.peakErrorBytes counters.largestRequestBytes counters.hugeAllocations
            counters.threads counters.requestSizes.upToBytes counters.requestSizes.allocations
            holders.time holders.libraries.name holders.libraries.liveBytes
            holders.sites.name holders.sites.liveBytes
            leaks.state leaks.reason leaks.method leaks.epochs leaks.voidEpochs leaks.epochSeconds
            leaks.cpuSeconds leaks.residentBytes leaks.limitBytes leaks.slots.bytes
            leaks.slots.count leaks.slots.inUse leaks.placed leaks.notPlaced leaks.tooLarge
            leaks.watchReason leaks.sites.leak leaks.sites.growing leaks.sites.pool
            leaks.suspected.name leaks.suspected.liveBytes
            mallometer.build mallometer.allocator mallometer.mode mallometer.byteUnit
            mallometer.footprintBytes mallometer.overheadSeconds mallometer.pollSeconds
            mallometer.threadsWithoutBlock mallometer.hugeThresholdBytes
            mallometer.sampling.intervalBytes mallometer.sampling.samples
            mallometer.sampling.withoutSite mallometer.sampling.notFollowed
            mallometer.sampling.bySizeOnly mallometer.sampling.overheadTarget mallometer.missing
            mallometer.remark
            """),
        Arguments.of(
            BreakdownView.class,
            """
            residentBytes time totalBytes parts.part parts.bytes presumedJvmBytes
            nativeMemoryTracking mappings costSeconds
            """),
        Arguments.of(
            CgroupView.class,
            """
            version chargedBytes parts.part parts.bytes limitBytes highBytes workingSetBytes
            swapBytes events pressure.someSeconds pressure.fullSeconds pressure.someRatio10s
            pressure.fullRatio10s
            """),
        Arguments.of(
            BudgetView.class,
            """
            verdict limitBytes totalBytes headroomBytes lines.item lines.bytes lines.basis
            lines.detail
            """),
        Arguments.of(
            AllocatorView.class,
            """
            allocator kind time arenas systemBytes usedBytes retainedBytes mappedBytes
            releasableBytes trimmableBytes residentBytes trims costSeconds
            arenaTable.number arenaTable.systemBytes arenaTable.usedBytes arenaTable.retainedBytes
            arenaTable.releasableBytes arenaTable.topBytes
            advice.topic advice.reason advice.setting
            largeAllocations.number largeAllocations.time largeAllocations.bytes
            largeAllocations.threadId largeAllocations.threadName
            """),
        Arguments.of(
            HistoryView.class,
            """
            points.time points.liveBytes points.liveObjects points.allocations
            points.allocatedBytes points.residentBytes points.chargedBytes points.workingSetBytes
            points.limitBytes record.state record.path record.reason
            """),
        Arguments.of(
            LeaksView.Site.class,
            """
            verdict site library number stacks frames sentence confidence suspectedBytes
            suspectedBytesLow suspectedBytesHigh suspectedObjects liveBytes growthBytesPerHour
            oldestSeconds medianAgeSeconds idleSeconds thresholdSeconds shareOfLimit secondsToLimit
            evidence since
            lastAccess.time lastAccess.thread lastAccess.frames lastAccess.unavailable
            lastWrite.time lastWrite.thread lastWrite.frames lastWrite.unavailable acknowledged
            """),
        Arguments.of(
            TrimView.class,
            """
            outcome explanation time residentBeforeBytes residentAfterBytes returnedBytes
            tookSeconds nextPossible
            """));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("answers")
  void staysAsItIs(Class<?> answer, String names) {
    assertThat(declared(answer)).containsExactly(names.strip().split("\\s+"));
  }

  /** What a record may write. */
  static List<String> declared(Class<?> type) {
    return Stream.of(type.getRecordComponents()).flatMap(AnswerNamesTest::declared).toList();
  }

  private static Stream<String> declared(RecordComponent component) {
    Type type = component.getGenericType();
    boolean list = component.getType() == List.class;
    Class<?> inner =
        list
            ? (Class<?>) ((ParameterizedType) type).getActualTypeArguments()[0]
            : component.getType();
    return inner.isRecord()
        ? declared(inner).stream().map(name -> component.getName() + "." + name)
        : Stream.of(component.getName());
  }

  /** What was written, without what is in the table of events by the kernel's own names. */
  static Stream<String> written(Object json) {
    if (json instanceof List<?> list) {
      return list.stream().flatMap(AnswerNamesTest::written);
    }
    return ((Map<?, ?>) json)
        .entrySet().stream()
            .flatMap(
                entry ->
                    entry.getKey().equals("events") || !hasNames(entry.getValue())
                        ? Stream.of(entry.getKey().toString())
                        : written(entry.getValue()).map(name -> entry.getKey() + "." + name));
  }

  private static boolean hasNames(Object json) {
    return json instanceof Map || json instanceof List<?> list && !list.isEmpty();
  }
}
