package io.mallometer.view;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.mallometer.PublicNames;
import io.mallometer.meter.Meter;
import io.mallometer.model.Component;
import io.mallometer.model.StackFrame;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Compares the names in the code with the file of public names. */
@Tag("any-jdk")
class ListedNamesTest {

  @Test
  void everyViewIsAnAnswer() {
    assertThat(
            new ClassFileImporter()
                    .withImportOption(new ImportOption.DoNotIncludeTests())
                    .importPackages(View.class.getPackageName())
                    .stream()
                    .filter(type -> type.isAssignableTo(View.class) && !type.isInterface())
                    .map(JavaClass::getName)
                    .filter(name -> !name.equals(View.Of.class.getName())))
        .as("add a new view to Views.kinds")
        .isSubsetOf(Views.kinds().values().stream().map(Class::getName).toList());
  }

  /** The list is generated from the records that are written as JSON. */
  @Test
  void everyPublishedComponentIsListed() {
    Set<String> names = new TreeSet<>();
    Views.kinds().forEach((asked, kind) -> addKeys(names, asked, kind));

    PublicNames.check("keys in JSON", names);
  }

  private static void addKeys(Set<String> names, String asked, Class<?> kind) {
    for (Component component : Component.of(kind)) {
      addKey(
          names, asked + (asked.endsWith("[]") ? "." : " ") + component.name(), component.type());
    }
  }

  private static void addKey(Set<String> names, String key, Type type) {
    Optional<String> known =
        Views.kinds().entrySet().stream()
            .filter(kind -> kind.getValue() == type)
            .map(Map.Entry::getKey)
            .findFirst();
    if (known.isPresent() && key.startsWith("overview ")) {
      names.add(key + " = " + known.get());
    } else if (type instanceof ParameterizedType generic) {
      Type[] arguments = generic.getActualTypeArguments();
      String mark =
          generic.getRawType() == Optional.class
              ? ""
              : generic.getRawType() == Map.class ? ".*" : "[]";
      addKey(names, key + mark, arguments[arguments.length - 1]);
    } else if (type instanceof Class<?> kind && kind.isRecord() && kind != StackFrame.class) {
      Component.of(kind).forEach(one -> addKey(names, key + "." + one.name(), one.type()));
    } else {
      names.add(key);
    }
  }

  @Test
  void everyMeterIsListed() {
    assertThat(PublicNames.names("meters of Micrometer"))
        .containsAll(Meter.all().stream().map(Meter::name).toList());
  }
}
