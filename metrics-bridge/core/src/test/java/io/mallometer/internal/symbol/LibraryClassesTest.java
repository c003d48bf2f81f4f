package io.mallometer.internal.symbol;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LibraryClassesTest {

  private static final Map<String, String> CLASS_PATH =
      Map.of(
          "com/acme/Main.class", "jar:file:/app/acme.jar!/com/acme/Main.class",
          "shop/Cart.class", "jar:file:/app/acme.jar!/shop/Cart.class",
          "shop/Local.class", "file:/app/classes/shop/Local.class",
          "io/x/A.class", "jar:file:/app/lib/x.jar!/io/x/A.class");

  private static final Map<String, String> OTHERS =
      Map.of(
          "b/App.class", "jar:nested:/app/boot.jar/!BOOT-INF/classes/!/b/App.class",
          "b/Lib.class", "jar:nested:/app/boot.jar/!BOOT-INF/lib/lib.jar!/b/Lib.class",
          "w/Lib.class", "jar:file:/srv/WEB-INF/lib/lib.jar!/w/Lib.class",
          "job/Map.class", "jar:file:/tmp/job.jar!/job/Map.class");

  private final LibraryClasses libraries =
      new LibraryClasses("com.acme.Main --port 1", places(CLASS_PATH), places(OTHERS));

  private static Function<String, @Nullable URL> places(Map<String, String> places) {
    return file -> {
      try {
        String place = places.get(file);
        return place == null
            ? null
            : place.contains("nested") ? nested(place) : URI.create(place).toURL();
      } catch (MalformedURLException e) {
        throw new AssertionError(e);
      }
    };
  }

  /**
   * Replaces {@code jar:nested:} by {@code jar:file:}, because the handler for {@code jar:nested:}
   * exists only in Spring Boot.
   */
  private static URL nested(String place) throws MalformedURLException {
    return URI.create(place.replace("jar:nested:", "jar:file:")).toURL();
  }

  @Test
  void jarsOfTheClassPathAreLibrariesButTheOneWithTheMainClass() {
    assertThat(libraries.test("io.x.A")).isTrue();
    assertThat(libraries.test("io.x.A$Nested")).isTrue();
    assertThat(libraries.test("shop.Cart")).isFalse();
    assertThat(libraries.test("shop.Local")).isFalse();
  }

  @Test
  void packagesThatShareTwoNamesWithTheMainClassAreTheApplications() {
    assertThat(libraries.test("com.acme.other.module.Service")).isFalse();
  }

  @Test
  void librariesWithinAnArchiveAreTold() {
    assertThat(libraries.test("b.App")).isFalse();
    assertThat(libraries.test("b.Lib")).isTrue();
    assertThat(libraries.test("w.Lib")).isTrue();
  }

  /**
   * Scripts and jobs have class loaders of their own, so the class path does not have their
   * classes.
   */
  @Test
  void whatNoClassPathHasIsTheApplications() {
    assertThat(libraries.test("job.Map")).isFalse();
    assertThat(libraries.test("Script1")).isFalse();
  }

  @Test
  void classesOfTheJdkAreALibrarysAndOwnTestsAreNot() {
    assertThat(LibraryClasses.OF_THIS_PROCESS.test("org.w3c.dom.Node")).isTrue();
    assertThat(LibraryClasses.OF_THIS_PROCESS.test(getClass().getName())).isFalse();
    assertThat(LibraryClasses.OF_THIS_PROCESS.test("org.assertj.core.api.Assertions")).isTrue();
  }
}
