package io.mallometer.preload;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.Mallometer;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.PoolReport;
import io.mallometer.model.PoolReport.Pool;
import io.mallometer.model.Setting;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@Tag("preload")
@ExtendWith(Counted.class)
class LoadedClassesTest {

  private static final int BUFFERS = 4_000;
  private static final int BYTES = 8_192;

  private static final int INTERVAL = 64;

  @AutoClose
  private final Mallometer mallometer =
      Mallometer.open(
          MallometerOptions.defaults().with(Setting.POOLS_NETTY_SAMPLING_INTERVAL, INTERVAL));

  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  void aPoolOfTheApplicationIsFoundWithTheLineThatKeepsItsChunks() throws InterruptedException {
    List<ByteBuf> kept = new ArrayList<>();
    for (int i = 0; i < BUFFERS; i++) {
      kept.add(PooledByteBufAllocator.DEFAULT.directBuffer(BYTES));
    }

    Pool pool = found();

    assertThat(pool.origin().packageName()).isEqualTo("io.netty");
    assertThat(pool.amounts().bytes())
        .isEqualTo(PooledByteBufAllocator.DEFAULT.metric().usedDirectMemory());
    assertThat(pool.bufferSites().get(0).line()).contains("LoadedClassesTest.aPoolOf");
    // Netty is expected to track only 31 of the 4,000 buffers, with a standard error of 5.6, so the
    // estimate is rough.
    assertThat(pool.bufferSites().get(0).buffers().value()).isBetween(600.0, 8_600.0);
    while (found().samplingInterval() != INTERVAL) {
      Thread.sleep(100);
    }
    kept.forEach(ByteBuf::release);
  }

  /**
   * Waits until the poller has read all buffers, because its first readings are slow and
   * incomplete.
   */
  private Pool found() throws InterruptedException {
    Optional<Pool> pool = whole();
    while (pool.isEmpty()) {
      Thread.sleep(100);
      pool = whole();
    }
    return pool.get();
  }

  private Optional<Pool> whole() {
    return mallometer.allocator().pools().map(PoolReport::pools).stream()
        .flatMap(List::stream)
        .filter(pool -> pool.reason().isEmpty() && !pool.bufferSites().isEmpty())
        .findFirst();
  }
}
