package io.mallometer.view;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.mallometer.FakeMallometer;
import io.mallometer.SitesByHand;
import io.mallometer.VerdictsByHand;
import io.mallometer.model.Verdict;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class OwnerParameterTest {

  private static final String OWN = "io.mallometer.internal.x.Y.read";
  private static final String SHOP = "com.shop.Cart.zip";

  private final FakeMallometer mallometer = new FakeMallometer();
  private final Views views = new Views(mallometer, false);

  @BeforeEach
  void aSiteOfEach() {
    mallometer.setSites(
        SitesByHand.reading(
            SitesByHand.site(1, OWN, "[java]", 500), SitesByHand.site(2, SHOP, "x", 100)));
    mallometer.setLeaks(
        VerdictsByHand.report(
            VerdictsByHand.verdict(Verdict.LEAK, OWN, 1, 1e6),
            VerdictsByHand.verdict(Verdict.LEAK, SHOP, 2, 1e6)));
  }

  @Test
  void verdictsAreThoseOfTheApplicationUnlessOthersAreRequested() throws IOException {
    assertThat(leaks(Map.of())).containsExactly(SHOP);
    assertThat(leaks(Map.of("owner", "application"))).containsExactly(SHOP);
    assertThat(leaks(Map.of("owner", "mallometer"))).containsExactly(OWN);
    assertThat(leaks(Map.of("owner", "jvm"))).isEmpty();
    assertThat(leaks(Map.of("owner", "all"))).containsExactly(OWN, SHOP);
  }

  @Test
  void sitesAndGroupsAreThoseOfTheApplicationUnlessOthersAreRequested() throws IOException {
    assertThat(names(sites(Map.of()), "name")).containsExactly(SHOP);
    assertThat(names(sites(Map.of("owner", "all")), "name")).containsExactly(OWN, SHOP);
    assertThat(names(sites(Map.of("filter", "mallometer")), "name")).containsExactly(OWN);
    assertThat(names(read("sites", Map.of("group", "site")).get("groups"), "key"))
        .containsExactly(SHOP);
    assertThat(names(read("sites", Map.of("group", "library")).get("groups"), "key"))
        .containsExactly("[java]", "x");
  }

  @Test
  void theBudgetOfASearchIsATimeWithItsUnit() {
    // Invalid times give WRONG. Valid times give another outcome, because the fake process cannot
    // be searched.
    for (String pause : List.of("500ms", "3s")) {
      assertThat(views.owners("7", Map.of("links", "8", "pause", pause, "total", pause)).outcome())
          .isNotEqualTo(Answer.Outcome.WRONG);
    }
    assertThat(views.owners("7", Map.of("links", "8", "pause", "1h", "total", "1h")).outcome())
        .isEqualTo(Answer.Outcome.UNSUPPORTED);
    for (String pause : List.of("3", "0", "2h", "long")) {
      assertThat(views.owners("7", Map.of("links", "8", "pause", pause)).outcome())
          .isEqualTo(Answer.Outcome.WRONG);
    }
  }

  @Test
  void anUnknownOwnerIsRefused() throws IOException {
    assertThat(read("leaks", Map.of("owner", "me")).toString())
        .contains("must be one of application, jvm, mallometer, all");
  }

  private List<String> leaks(Map<String, String> parameters) throws IOException {
    List<String> names = new ArrayList<>();
    read("leaks", parameters).forEach(leak -> names.add(leak.get("site").get("name").asText()));
    return names;
  }

  private JsonNode sites(Map<String, String> parameters) throws IOException {
    return read("sites", parameters).get("sites");
  }

  private JsonNode read(String view, Map<String, String> parameters) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    views.answer(view, parameters).body().writeTo(out);
    return new ObjectMapper().readTree(out.toByteArray());
  }

  private static List<String> names(JsonNode rows, String field) {
    List<String> names = new ArrayList<>();
    rows.forEach(row -> names.add(row.get(field).asText()));
    return names;
  }
}
