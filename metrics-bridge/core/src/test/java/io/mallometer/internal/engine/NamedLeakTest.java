package io.mallometer.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.mallometer.VerdictsByHand;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.Verdict;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Several stacks of one name leak as one. */
class NamedLeakTest {

  private static SiteVerdict leak(String name, int number, double bytes) {
    return VerdictsByHand.verdict(Verdict.LEAK, name, number, bytes);
  }

  @Test
  void stacksOfANameAreAddedUp() {
    SiteVerdict large = leak("com.shop.Cart.zip", 1, 3e6);
    SiteVerdict small = leak("com.shop.Cart.zip", 2, 1e6);

    NamedLeak zip =
        NamedLeak.of(List.of(leak("com.shop.Store.open", 3, 3.5e6), large, small)).get(0);

    assertThat(zip.worst()).isEqualTo(large);
    assertThat(zip.others()).isEqualTo(1);
    assertThat(zip.bytes()).isEqualTo(4e6);
    assertThat(zip.growthBytesPerHour())
        .isEqualTo(large.growth().bytesPerHour() + small.growth().bytesPerHour());
    assertThat(zip.secondsToLimit()).isCloseTo(large.growth().secondsToLimit() / 2, within(1e-6));
    assertThat(zip.sentence())
        .startsWith(large.sentence() + "; with 1 more stacks of that name 3.8 MiB, +");
  }

  @Test
  void oneAloneIsSaidAsItIs() {
    SiteVerdict alone = leak("com.shop.Cart.zip", 1, 3e6);
    NamedLeak zip = NamedLeak.of(List.of(alone)).get(0);

    assertThat(zip.sentence()).isEqualTo(alone.sentence());
    assertThat(zip.secondsToLimit()).isEqualTo(alone.growth().secondsToLimit());
  }

  @Test
  void whatIsUnknownStaysSo() {
    SiteVerdict pool = VerdictsByHand.verdict(Verdict.POOL, "com.shop.Pool.fill", 1, 1e6);

    assertThat(NamedLeak.of(List.of(pool)).get(0).growthBytesPerHour()).isNaN();
    assertThat(NamedLeak.of(List.of())).isEmpty();
  }
}
