package io.mallometer.spring;

import io.mallometer.view.AllocatorView;
import io.mallometer.view.BreakdownView;
import io.mallometer.view.BudgetView;
import io.mallometer.view.CgroupView;
import io.mallometer.view.DiagnosisView;
import io.mallometer.view.HistoryView;
import io.mallometer.view.LeaksView;
import io.mallometer.view.NativeMemoryView;
import io.mallometer.view.OverviewView;
import io.mallometer.view.OwnerReportView;
import io.mallometer.view.OwnersView;
import io.mallometer.view.RecordingView;
import io.mallometer.view.RefusalView;
import io.mallometer.view.SiteChangesView;
import io.mallometer.view.SiteGroupsView;
import io.mallometer.view.SitesView;
import io.mallometer.view.TrendsView;
import io.mallometer.view.TrimView;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
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
      new BindingReflectionHintsRegistrar()
          .registerReflectionHints(
              hints.reflection(),
              NativeMemoryView.class,
              BreakdownView.class,
              CgroupView.class,
              BudgetView.class,
              AllocatorView.class,
              LeaksView.class,
              SitesView.class,
              SitesView.Interval.class,
              SiteGroupsView.class,
              SiteChangesView.class,
              DiagnosisView.class,
              OverviewView.class,
              HistoryView.class,
              TrendsView.class,
              RecordingView.class,
              RefusalView.class,
              TrimView.class,
              OwnersView.class,
              OwnerReportView.class,
              OwnerReportView.Way.class,
              OwnerReportView.Path.class);
      hints.resources().registerPattern("io/mallometer/page/*");
      hints.resources().registerPattern("io/mallometer/report/*");
    }
  }
}
