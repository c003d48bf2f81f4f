package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class StatusFileTest {

  @Test
  void readsWhatTheKernelWrites() {
    assertThat(
            StatusFile.parse(
                "Name:\tjava\nVmHWM:\t   99999 kB\nVmRSS:\t   51628 kB\nRssAnon:\t    3028 kB\n"
                    + "RssFile:\t   48600 kB\nThreads:\t19\nSigQ:\t0/7823\n"))
        .isEqualTo(
            new StatusFile(
                OptionalLong.of(51_628 * 1024),
                OptionalLong.of(3_028 * 1024),
                OptionalLong.of(48_600 * 1024),
                OptionalLong.of(19)));
  }

  @Test
  void readsTheRollup() {
    assertThat(
            StatusFile.parse(
                    "55f0-7fff ---p 00000000 00:00 0    [rollup]\nRss:               48880 kB\n")
                .residentBytes())
        .hasValue(48_880 * 1024);
  }

  @Test
  void whatIsNotThereOrNoNumberIsUnknown() {
    for (String status :
        new String[] {
          "", "VmRSS:", "VmRSS:\n", "VmRSS: kB\n", "VmRSS: 1 MB\n", "VmRSS: -1 kB\n", "xVmRSS: 1 kB"
        }) {
      assertThat(StatusFile.parse(status).residentBytes()).as(status).isEmpty();
    }
  }
}
