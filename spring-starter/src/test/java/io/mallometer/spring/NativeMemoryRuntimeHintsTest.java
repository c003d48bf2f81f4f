package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.Component;
import io.mallometer.model.Figure;
import io.mallometer.view.Views;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;

@Tag("any-jdk")
class NativeMemoryRuntimeHintsTest {

  private static final RuntimeHints HINTS = new RuntimeHints();

  @BeforeAll
  static void register() {
    new MallometerEndpointAutoConfiguration.RecordsOfAnswers()
        .registerHints(HINTS, NativeMemoryRuntimeHintsTest.class.getClassLoader());
  }

  @ParameterizedTest
  @MethodSource("answers")
  void everyAnswerIsKept(Class<?> type) {
    assertThat(RuntimeHintsPredicates.reflection().onType(type)).accepts(HINTS);
    Stream.concat(
            Arrays.stream(type.getRecordComponents()).map(RecordComponent::getAccessor),
            Arrays.stream(type.getDeclaredMethods())
                .filter(method -> method.isAnnotationPresent(Figure.class)))
        .forEach(
            method ->
                assertThat(RuntimeHintsPredicates.reflection().onMethod(method))
                    .as(method.getName())
                    .accepts(HINTS));
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
    assertThat(getClass().getResource("/io/mallometer/" + resource)).isNotNull();
    assertThat(RuntimeHintsPredicates.resource().forResource("io/mallometer/" + resource))
        .accepts(HINTS);
  }
}
