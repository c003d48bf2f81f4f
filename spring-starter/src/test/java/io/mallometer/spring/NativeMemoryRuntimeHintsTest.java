package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.test.context.FilteredClassLoader;

/** A native image can write what the endpoint answers. */
class NativeMemoryRuntimeHintsTest {

  private final RuntimeHints hints = new RuntimeHints();

  @ParameterizedTest
  @ValueSource(
      classes = {
        NativeMemoryDescriptor.class,
        NativeMemoryDescriptor.Counters.class,
        BreakdownDescriptor.class,
        BreakdownDescriptor.Part.class,
        CgroupDescriptor.class,
        CgroupDescriptor.Pressure.class,
        BudgetDescriptor.class,
        BudgetDescriptor.Line.class,
        AllocatorDescriptor.class,
        AllocatorDescriptor.Arena.class,
        AllocatorDescriptor.AdviceLine.class,
        AllocatorDescriptor.LargeRequest.class,
        HistoryDescriptor.class,
        SitesDescriptor.class,
        SitesDescriptor.Reading.class,
        SitesDescriptor.Site.class,
        SitesDescriptor.Interval.class,
        SiteGroupsDescriptor.class,
        SiteGroupsDescriptor.Group.class,
        SiteChangesDescriptor.class,
        SiteChangesDescriptor.Change.class,
        RefusalDescriptor.class,
        TrimDescriptor.class
      })
  void everyAnswerIsKept(Class<?> type) {
    new NativeMemoryRuntimeHints().registerHints(hints, type.getClassLoader());

    assertThat(RuntimeHintsPredicates.reflection().onType(type)).accepts(hints);
    assertThat(
            RuntimeHintsPredicates.reflection()
                .onMethod(type, type.getRecordComponents()[0].getName()))
        .accepts(hints);
  }

  @Test
  void withoutActuatorNothingIsKept() {
    new NativeMemoryRuntimeHints()
        .registerHints(hints, new FilteredClassLoader("org.springframework.boot.actuate"));

    assertThat(hints.reflection().typeHints()).isEmpty();
  }
}
