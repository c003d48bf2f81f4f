package io.mallometer.internal.library.abi;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.internal.leak.evidence.SampledObject;
import io.mallometer.internal.symbol.SiteNaming;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests that a call site that takes the place of an older one in the table gets its own name. */
class NamedSitesTest {

  private final NamedSites named = new NamedSites();
  private final SiteNaming naming = new SiteNaming(List.of());

  @Test
  void aSiteReplacesTheOneThatWasForgottenForIt() {
    int later = 7 + 2 * SampledObject.MOST_SITES;
    named.put(7, List.of(), naming);
    named.put(later, List.of(), naming);

    assertThat(named.contains(later)).isTrue();
    assertThat(named.contains(7)).isFalse();
    named.remove(7);
    assertThat(named.contains(later)).isTrue();
    named.remove(later);
    assertThat(named.contains(later)).isFalse();
  }
}
