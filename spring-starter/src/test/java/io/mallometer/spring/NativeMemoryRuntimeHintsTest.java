package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.Component;
import io.mallometer.view.Views;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;

/** Checks that a native image can write the endpoint's answers. */
class NativeMemoryRuntimeHintsTest {

  private final RuntimeHints hints = new RuntimeHints();

  @ParameterizedTest
  @MethodSource("answers")
  void everyAnswerIsKept(Class<?> type) throws NoSuchMethodException {
    new MallometerEndpointAutoConfiguration.RecordsOfAnswers()
        .registerHints(hints, type.getClassLoader());

    assertThat(RuntimeHintsPredicates.reflection().onType(type)).accepts(hints);
    for (Component component : Component.of(type)) {
      assertThat(RuntimeHintsPredicates.reflection().onMethod(type.getMethod(component.name())))
          .as(component.name())
          .accepts(hints);
    }
  }

  private static Set<Class<?>> answers() {
    return Component.reachable(Views.kinds().values());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "page/page.html",
        "page/page.js",
        "page/page.css",
        "page/uplot.js",
        "page/uplot.css",
        "report/flamegraph.html",
        "report/flamegraph.js",
        "report/flamegraph.css"
      })
  void whatThePageIsPutTogetherFromIsKept(String resource) {
    new MallometerEndpointAutoConfiguration.RecordsOfAnswers()
        .registerHints(hints, getClass().getClassLoader());

    assertThat(getClass().getResource("/io/mallometer/" + resource)).isNotNull();
    assertThat(RuntimeHintsPredicates.resource().forResource("io/mallometer/" + resource))
        .accepts(hints);
  }
}
