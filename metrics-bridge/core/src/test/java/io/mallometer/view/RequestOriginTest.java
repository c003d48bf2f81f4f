package io.mallometer.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.view.Answer.Outcome;
import io.mallometer.view.Answer.Told;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("any-jdk")
class RequestOriginTest {

  private static final String HOST = "shop.example:8080";

  @Test
  void aProgramThatSaysNothingIsLetThrough() {
    assertThat(refusal(null, null)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"same-origin, https://proxy.example", "none,", "same-origin,"})
  void whatTheBrowserKnowsOfTheSiteDecidesWhateverTheHostIsCalled(
      String fetchSite, @Nullable String origin) {
    assertThat(refusal(fetchSite, origin)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"cross-site", "same-site", "something-new"})
  void anotherSitesPageIsRefusedWithTheReason(String fetchSite) {
    Told refusal = refusal(fetchSite, "http://" + HOST).orElseThrow();

    assertThat(refusal.outcome()).isEqualTo(Outcome.FORBIDDEN);
    assertThat(((RefusalView) refusal.view()).reason()).contains("Sec-Fetch-Site: " + fetchSite);
  }

  @ParameterizedTest
  @CsvSource({"http://shop.example:8080", "https://SHOP.example:8080"})
  void withoutThatHeaderTheHostsOwnOriginIsAllowed(String origin) {
    assertThat(refusal(null, origin)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "http://evil.example",
    "http://shop.example",
    "http://shop.example:80800",
    "http://evil.example?://shop.example:8080",
    "null",
    "shop.example:8080",
    "''"
  })
  void anyOtherOriginIsRefused(String origin) {
    assertThat(refusal(null, origin)).isPresent();
  }

  @Test
  void aHostThatIsNotKnownIsNobodysOrigin() {
    assertThat(new RequestOrigin(null, "http://shop.example", null).refusal()).isPresent();
  }

  private static Optional<Told> refusal(@Nullable String fetchSite, @Nullable String origin) {
    return new RequestOrigin(fetchSite, origin, HOST).refusal();
  }
}
