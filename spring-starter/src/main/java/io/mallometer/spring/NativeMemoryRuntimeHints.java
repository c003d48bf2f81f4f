package io.mallometer.spring;

import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.util.ClassUtils;

/**
 * What a native image has to keep so that the endpoint can write its answers: the records that the
 * return type of its operation does not name.
 */
final class NativeMemoryRuntimeHints implements RuntimeHintsRegistrar {

  @Override
  public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
    if (ClassUtils.isPresent(
        "org.springframework.boot.actuate.endpoint.OperationResponseBody", classLoader)) {
      new BindingReflectionHintsRegistrar()
          .registerReflectionHints(
              hints.reflection(),
              NativeMemoryDescriptor.class,
              BreakdownDescriptor.class,
              CgroupDescriptor.class,
              BudgetDescriptor.class,
              AllocatorDescriptor.class,
              HistoryDescriptor.class,
              SitesDescriptor.class,
              SiteGroupsDescriptor.class,
              SiteChangesDescriptor.class,
              RefusalDescriptor.class,
              TrimDescriptor.class);
    }
  }
}
