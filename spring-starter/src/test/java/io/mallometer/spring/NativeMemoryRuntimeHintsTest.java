package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.Component;
import io.mallometer.model.Figure;
import io.mallometer.view.Views;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;

@Tag("any-jdk")
class NativeMemoryRuntimeHintsTest {

  private final RuntimeHints hints = new RuntimeHints();

  @ParameterizedTest
  @MethodSource("answers")
  void everyAnswerIsKept(Class<?> type) {
    new MallometerEndpointAutoConfiguration.RecordsOfAnswers()
        .registerHints(hints, type.getClassLoader());

    assertThat(RuntimeHintsPredicates.reflection().onType(type)).accepts(hints);
    Stream.concat(
            Arrays.stream(type.getRecordComponents()).map(RecordComponent::getAccessor),
            Arrays.stream(type.getDeclaredMethods())
                .filter(method -> method.isAnnotationPresent(Figure.class)))
        .forEach(
            method ->
                assertThat(RuntimeHintsPredicates.reflection().onMethod(method))
                    .as(method.getName())
                    .accepts(hints));
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
