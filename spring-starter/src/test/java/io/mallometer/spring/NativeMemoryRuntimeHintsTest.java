package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.Advice;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.CgroupMemory;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.MemoryBudget;
import io.mallometer.model.PreviousRun;
import io.mallometer.view.AllocatorView;
import io.mallometer.view.BreakdownView;
import io.mallometer.view.BudgetView;
import io.mallometer.view.CgroupView;
import io.mallometer.view.DiagnosisView;
import io.mallometer.view.HistoryView;
import io.mallometer.view.LeaksView;
import io.mallometer.view.NativeMemoryView;
import io.mallometer.view.OverviewView;
import io.mallometer.view.RecordingView;
import io.mallometer.view.RefusalView;
import io.mallometer.view.SiteChangesView;
import io.mallometer.view.SiteGroupsView;
import io.mallometer.view.SitesView;
import io.mallometer.view.TrendsView;
import io.mallometer.view.TrimView;
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
        NativeMemoryView.class,
        NativeMemoryView.Counters.class,
        BreakdownView.class,
        BreakdownView.Part.class,
        CgroupView.class,
        CgroupMemory.Pressure.class,
        BudgetView.class,
        MemoryBudget.Line.class,
        AllocatorView.class,
        AllocatorStatistics.Arena.class,
        Advice.class,
        HugeAllocation.class,
        LeaksView.class,
        LeaksView.Site.class,
        LeaksView.Use.class,
        SitesView.class,
        SitesView.Reading.class,
        SitesView.Site.class,
        SitesView.Interval.class,
        SiteGroupsView.class,
        SiteGroupsView.Group.class,
        SiteChangesView.class,
        SiteChangesView.Change.class,
        DiagnosisView.class,
        DiagnosisView.Finding.class,
        Diagnosis.Limit.class,
        OverviewView.class,
        OverviewView.Export.class,
        HistoryView.class,
        HistoryView.Memory.class,
        HistoryView.Malloc.class,
        HistoryView.Column.class,
        TrendsView.class,
        TrendsView.Group.class,
        TrendsView.Stack.class,
        RecordingView.class,
        PreviousRun.class,
        RefusalView.class,
        TrimView.class
      })
  void everyAnswerIsKept(Class<?> type) {
    new NativeMemoryRuntimeHints().registerHints(hints, type.getClassLoader());

    assertThat(RuntimeHintsPredicates.reflection().onType(type)).accepts(hints);
    assertThat(
            RuntimeHintsPredicates.reflection()
                .onMethod(type, type.getRecordComponents()[0].getName()))
        .accepts(hints);
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
    new NativeMemoryRuntimeHints().registerHints(hints, getClass().getClassLoader());

    assertThat(getClass().getResource("/io/mallometer/" + resource)).isNotNull();
    assertThat(RuntimeHintsPredicates.resource().forResource("io/mallometer/" + resource))
        .accepts(hints);
  }

  @Test
  void withoutActuatorNothingIsKept() {
    new NativeMemoryRuntimeHints()
        .registerHints(hints, new FilteredClassLoader("org.springframework.boot.actuate"));

    assertThat(hints.reflection().typeHints()).isEmpty();
    assertThat(hints.resources().resourcePatternHints()).isEmpty();
  }
}
