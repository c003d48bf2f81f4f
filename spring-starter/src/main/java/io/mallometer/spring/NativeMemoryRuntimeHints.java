package io.mallometer.spring;

import io.mallometer.model.Component;
import io.mallometer.view.Views;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.util.ClassUtils;

/**
 * What a native image has to keep so that the endpoint can write its answers: the records that are
 * read by the names of their components, and what the page and the reports are put together from.
 */
final class NativeMemoryRuntimeHints implements RuntimeHintsRegistrar {

  @Override
  public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
    if (ClassUtils.isPresent(
        "org.springframework.boot.actuate.endpoint.OperationResponseBody", classLoader)) {
      for (Class<?> kind : Component.reachable(Views.kinds().values())) {
        hints
            .reflection()
            .registerType(
                kind, MemberCategory.INVOKE_PUBLIC_METHODS, MemberCategory.INVOKE_DECLARED_METHODS);
      }
      hints.resources().registerPattern("io/mallometer/page/*");
      hints.resources().registerPattern("io/mallometer/report/*");
    }
  }
}
