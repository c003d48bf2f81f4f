package io.mallometer;

import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.Location;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.platform.commons.annotation.Testable;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * The tag {@code process}, for tests that start another program, such as a JVM or a browser. {@code
 * bin/test --fast} leaves these tests out.
 */
public final class ProcessTag {

  private ProcessTag() {}

  /**
   * Returns the tests of this module that start a process and lack the tag. A test also starts a
   * process if the constructor or a set-up method of its class does.
   */
  public static Set<String> missing() {
    JavaClasses all =
        new ClassFileImporter()
            .withImportOption(ProcessTag::isOfTests)
            .importPackages("io.mallometer");
    Set<JavaCodeUnit> starting = starting(all);
    Set<String> missing = new TreeSet<>();
    for (JavaClass type : all) {
      if (isOfThisModule(type)) {
        boolean before =
            type.getCodeUnits().stream().anyMatch(unit -> isSetUp(unit) && starting.contains(unit));
        type.getMethods().stream()
            .filter(method -> before || starting.contains(method))
            .filter(method -> AnnotationSupport.isAnnotated(method.reflect(), Testable.class))
            .filter(method -> !isTagged(method))
            .forEach(method -> missing.add(method.getFullName()));
      }
    }
    return missing;
  }

  private static boolean isOfTests(Location location) {
    return location.contains("/test-classes/") || location.contains("-tests.jar");
  }

  private static boolean isOfThisModule(JavaClass type) {
    String module = Path.of("target/test-classes").toUri().toString();
    return type.getSource().orElseThrow().getUri().toString().startsWith(module);
  }

  private static Set<JavaCodeUnit> starting(JavaClasses classes) {
    Deque<JavaCodeUnit> found = new ArrayDeque<>();
    for (JavaClass type : classes) {
      type.getCodeUnits().stream()
          .filter(unit -> unit.getCallsFromSelf().stream().anyMatch(ProcessTag::starts))
          .forEach(found::add);
    }
    Set<JavaCodeUnit> starting = new HashSet<>();
    while (!found.isEmpty()) {
      JavaCodeUnit unit = found.pop();
      if (starting.add(unit)) {
        unit.getAccessesToSelf().stream().map(JavaAccess::getOrigin).forEach(found::add);
      }
    }
    return starting;
  }

  private static boolean starts(JavaAccess<?> call) {
    return call.getTargetOwner().isEquivalentTo(ProcessBuilder.class)
            && call.getName().startsWith("start")
        || call.getTargetOwner().isEquivalentTo(Runtime.class) && call.getName().equals("exec");
  }

  private static boolean isSetUp(JavaCodeUnit unit) {
    return !(unit instanceof JavaMethod)
        || unit.isAnnotatedWith(BeforeAll.class)
        || unit.isAnnotatedWith(BeforeEach.class);
  }

  private static boolean isTagged(JavaMethod method) {
    return Stream.of(method.reflect(), method.getOwner().reflect())
        .flatMap(
            element -> AnnotationSupport.findRepeatableAnnotations(element, Tag.class).stream())
        .anyMatch(tag -> tag.value().equals("process"));
  }
}
