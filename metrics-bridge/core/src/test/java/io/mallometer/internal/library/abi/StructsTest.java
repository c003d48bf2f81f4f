package io.mallometer.internal.library.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

class StructsTest {

  @Test
  void whatIsKeptIsNoBufferOfTheJdk() {
    long before = buffersOfTheJdk();
    ByteBuffer kept = Structs.keep(4_096);
    assertThat(buffersOfTheJdk()).isEqualTo(before);

    ByteBuffer passing = Structs.allocate(4_096);
    assertThat(buffersOfTheJdk()).isEqualTo(before + 1);
    assertThat(passing.capacity()).isEqualTo(kept.capacity());
  }

  @Test
  void itIsZeroedAndWhereItSays() {
    ByteBuffer kept = Structs.keep(1_000);
    assertThat(kept.isDirect()).isTrue();
    assertThat(kept.order()).isEqualTo(ByteOrder.nativeOrder());
    assertThat(kept.capacity()).isEqualTo(1_000);
    for (int i = 0; i < 1_000; i++) {
      assertThat(kept.get(i)).isZero();
    }
    assertThat(Structs.address(kept)).isNotZero();

    ByteBuffer larger = Structs.keepInstead(kept, 100_000);
    assertThat(larger.capacity()).isEqualTo(100_000);
    assertThat(larger.getLong(99_992)).isZero();
  }

  private static long buffersOfTheJdk() {
    return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
        .filter(pool -> pool.getName().equals("direct"))
        .mapToLong(BufferPoolMXBean::getCount)
        .sum();
  }
}
