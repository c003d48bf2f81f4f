package io.mallometer.view;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.mallometer.PublicNames;
import io.mallometer.meter.Meter;
import io.mallometer.model.Estimate;
import io.mallometer.model.StackFrame;
import io.mallometer.view.SitesView.Interval;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The services that the file of public names is compared with show all that there is. A name that
 * none of them shows would be missing from the file without anybody noticing.
 */
@Tag("any-jdk")
class ListedNamesTest {

  private static final Map<String, Class<?>> VIEWS =
      Map.ofEntries(
          Map.entry("allocator ", AllocatorView.class),
          Map.entry("recording ", RecordingView.class),
          Map.entry("breakdown ", BreakdownView.class),
          Map.entry("budget ", BudgetView.class),
          Map.entry("cgroup ", CgroupView.class),
          Map.entry("diagnosis ", DiagnosisView.class),
          Map.entry("history ", HistoryView.class),
          Map.entry("leaks [].", LeaksView.Site.class),
          Map.entry("nativememory ", NativeMemoryView.class),
          Map.entry("owner-report ", OwnerReportView.class),
          Map.entry("owners ", OwnersView.class),
          Map.entry("overview ", OverviewView.class),
          Map.entry("refusal ", RefusalView.class),
          Map.entry("sites ", SitesView.class),
          Map.entry("sites?from ", SiteChangesView.class),
          Map.entry("sites?group ", SiteGroupsView.class),
          Map.entry("trends ", TrendsView.class),
          Map.entry("trim ", TrimView.class));

  @Test
  void everyViewIsListed() {
    Set<String> listed =
        VIEWS.values().stream()
            .map(Class::getName)
            .map(name -> name.replaceFirst("\\$.*", ""))
            .collect(Collectors.toSet());

    assertThat(
            new ClassFileImporter()
                    .withImportOption(new ImportOption.DoNotIncludeTests())
                    .importPackages(View.class.getPackageName())
                    .stream()
                    .filter(type -> type.isAssignableTo(View.class) && !type.isInterface())
                    .map(JavaClass::getName))
        .as("add a new view to VIEWS here, and to ShownNames, which asks for it")
        .containsExactlyInAnyOrderElementsOf(listed);
  }

  @Test
  void everyComponentOfAViewIsListed() {
    Set<String> listed = PublicNames.names("keys in JSON");

    VIEWS.forEach(
        (prefix, view) ->
            assertThat(declared(prefix, view))
                .as("what KnowsEverything has to make a service show")
                .isNotEmpty()
                .allMatch(
                    name ->
                        listed.stream()
                            .anyMatch(line -> line.matches("\\Q" + name + "\\E([.\\[ ].*)?"))));
  }

  private static Stream<String> declared(String prefix, Class<?> view) {
    return Stream.of(view.getRecordComponents())
        .flatMap(component -> declared(prefix + component.getName(), component));
  }

  /** What is a view itself is listed as such. */
  private static Stream<String> declared(String name, RecordComponent component) {
    if (component.getGenericType() instanceof ParameterizedType of
        && of.getActualTypeArguments()[0] instanceof Class<?> element
        && isObject(element)) {
      return declared(name + (of.getRawType() == List.class ? "[]." : "."), element);
    }
    Class<?> type = component.getType() == Estimate.class ? Interval.class : component.getType();
    return isObject(type) ? declared(name + ".", type) : Stream.of(name);
  }

  private static boolean isObject(Class<?> type) {
    return type.isRecord() && type != StackFrame.class && !View.class.isAssignableFrom(type);
  }

  @Test
  void everyMeterIsListed() {
    assertThat(PublicNames.names("meters of Micrometer"))
        .containsAll(Meter.all().stream().map(Meter::name).toList());
  }
}
