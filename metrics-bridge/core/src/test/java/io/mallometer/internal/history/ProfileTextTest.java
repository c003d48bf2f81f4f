package io.mallometer.internal.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mallometer.model.ByteUnit;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.Estimate;
import io.mallometer.model.StackFrame;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class ProfileTextTest {

  private static final int ROOM = 73_688;
  private static final Instant TIME = Instant.parse("2026-01-01T00:00:00.123Z");

  @Test
  void whatIsReadIsWhatWasWritten() throws Exception {
    CallSites written =
        new CallSites(
            TIME,
            List.of(
                site(
                    7,
                    4096.5,
                    StackFrame.ofLibrary("libz.so", "operator new[]\tx", 31),
                    StackFrame.ofJava("a.B", "c", "B.java", 12)),
                site(9, 12)),
            1234,
            Map.of(),
            ByteUnit.REQUESTED,
            "",
            new CallSites.Origin("attached", Optional.of(TIME.minusSeconds(5)), 77),
            Map.of("libz.so", "abcdef"));

    CallSites read = ProfileText.read(ProfileText.write(written, ROOM));

    CallSite first = written.sites().get(0);
    assertThat(read.sites().get(0).frames().get(0).name()).isEqualTo("operator new[] x");
    assertThat(read.sites().get(0).frames().get(1)).isEqualTo(first.frames().get(1));
    assertThat(read.sites().get(0).liveBytes()).isEqualTo(first.liveBytes());
    assertThat(read.sites().get(0).allocatedObjects()).isEqualTo(first.allocatedObjects());
    assertThat(read.sites().get(1)).isEqualTo(written.sites().get(1));
    assertThat(read.with(List.of())).isEqualTo(written.with(List.of()));
  }

  /** Random names and numbers can hardly be compressed, so not all sites fit. */
  @Test
  void theLargestSitesAreThoseThatFit() throws Exception {
    SplittableRandom random = new SplittableRandom(1);
    CallSites many =
        reading(
            IntStream.range(0, 3_000)
                .mapToObj(
                    number ->
                        site(
                            number,
                            number,
                            StackFrame.ofJava(
                                Long.toHexString(random.nextLong()),
                                Long.toHexString(random.nextLong()),
                                "",
                                random.nextInt(1_000)),
                            StackFrame.ofLibrary(
                                Long.toHexString(random.nextLong()), "", random.nextLong())))
                .toList());

    byte[] written = ProfileText.write(many, ROOM);

    assertThat(written.length).isBetween(ROOM / 3, ROOM);
    List<CallSite> read = ProfileText.read(written).sites();
    assertThat(read.size()).isBetween(300, ProfileText.MOST_SITES);
    assertThat(read.get(0).number()).isEqualTo(2_999);
  }

  @Test
  void aProfileThatIsTornIsRefusedOrRead() throws Exception {
    byte[] whole = ProfileText.write(reading(List.of(site(1, 5))), ROOM);
    for (int length = 0; length < whole.length; length++) {
      byte[] part = java.util.Arrays.copyOf(whole, length);
      assertThatThrownBy(() -> ProfileText.read(part)).isInstanceOf(IOException.class);
    }
  }

  private static CallSites reading(List<CallSite> sites) {
    return new CallSites(TIME, sites, 1, Map.of(), ByteUnit.REQUESTED, "");
  }

  private static CallSite site(int number, double bytes, StackFrame... frames) {
    return new CallSite(
        number,
        List.of(frames),
        "a.B.c" + number,
        "libz.so",
        11,
        new Estimate(3, 0.5, 11),
        new Estimate(bytes * 3, 2.25, 11),
        new Estimate(2, 0.125, 4),
        new Estimate(bytes, 1e300, 4),
        Double.NaN,
        Double.NaN,
        CallSite.Ages.UNKNOWN);
  }
}
