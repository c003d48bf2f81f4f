package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ReportStreamTest {

  @Test
  void whatIsWrittenIsReadAndNeverWholeInMemory() throws Exception {
    AtomicLong written = new AtomicLong();
    CountDownLatch allWritten = new CountDownLatch(1);
    try (InputStream stream =
        ReportStream.of(
            out -> {
              for (int i = 0; i < 1_000; i++) {
                out.write(new byte[1_000]);
                written.addAndGet(1_000);
              }
              allWritten.countDown();
            })) {
      assertThat(stream.readNBytes(1_000)).hasSize(1_000);
      assertThat(allWritten.await(100, TimeUnit.MILLISECONDS)).isFalse();
      assertThat(written).hasValueLessThan(70_000);
      assertThat(stream.readAllBytes()).hasSize(999_000);
    }
  }

  @Test
  void aReportThatFailsDoesNotLookComplete() throws Exception {
    try (InputStream stream =
        ReportStream.of(
            out -> {
              out.write(new byte[10]);
              throw new IllegalStateException("made up");
            })) {
      assertThatThrownBy(stream::readAllBytes)
          .isInstanceOf(IOException.class)
          .hasRootCauseMessage("made up");
    }
  }

  @Test
  void whoGoesEarlyEndsTheWriting() throws Exception {
    CountDownLatch ended = new CountDownLatch(1);
    InputStream stream =
        ReportStream.of(
            out -> {
              try {
                while (true) {
                  out.write(new byte[1_000]);
                }
              } finally {
                ended.countDown();
              }
            });
    assertThat(stream.read()).isZero();
    stream.close();

    assertThat(ended.await(60, TimeUnit.SECONDS)).isTrue();
  }
}
