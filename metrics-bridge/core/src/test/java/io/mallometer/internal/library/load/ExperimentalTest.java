package io.mallometer.internal.library.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mallometer.internal.library.NativeLibrary;
import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs alone, because the tests change the system property {@code os.name} of the whole JVM. */
@Isolated
class ExperimentalTest {

  private static final String OS = System.getProperty("os.name");

  @AfterEach
  void thisSystemAgain() {
    System.setProperty("os.name", OS);
    System.clearProperty(Experimental.PROPERTY);
  }

  @ParameterizedTest
  @CsvSource({
    "linux, '', '', true",
    "macos, '', '', false",
    "macos, macos, '', true",
    "macos, '', macos, true",
    "macos, 'windows,MacOS', '', true",
    "macos, true, '', false",
    "macos, macosx, '', false",
  })
  void onlyTheNameAsksForIt(String os, String variable, String property, boolean allowed) {
    assertThat(Experimental.allows(os, variable, property)).isEqualTo(allowed);
  }

  @Test
  void aMacThatAsksForNothingHasOneLineAndNoNativeCode() {
    System.setProperty("os.name", "Mac OS X");

    NativeLibrary library = Availability.of(null, null, false);

    assertThat(library.read(Instant.EPOCH).status().reason())
        .startsWith("there is no library for macos");
    assertThat(library.read(Instant.EPOCH).status().remedy())
        .startsWith(Remedy.container())
        .endsWith(
            "counting on macOS itself is experimental (docs/reference/compatibility.md#macos)");
    assertThat(Experimental.onMacos()).isFalse();
  }

  @Test
  void aMacThatAsksForItIsToldWhichJarsCarryTheLibrary() {
    System.setProperty("os.name", "Mac OS X");
    System.setProperty(Experimental.PROPERTY, "macos");
    Platform mac = Platform.of("Mac OS X", "aarch64", "");

    assertThat(Experimental.onMacos()).isTrue();
    assertThat(Remedy.elsewhere(mac)).contains("macos-aarch64").endsWith("mvn -P macos");
    assertThat(Remedy.preload(Path.of("/cache/libmallometer.dylib"), "/other.dylib"))
        .isEqualTo("DYLD_INSERT_LIBRARIES=/cache/libmallometer.dylib:/other.dylib");
  }

  @Test
  void theLibraryIsNotUnpackedUnlessItIsAskedFor() {
    System.setProperty("os.name", "Mac OS X");

    assertThatThrownBy(BundledLibrary::extract)
        .hasMessageContaining("is experimental")
        .hasMessageContaining("MALLOMETER_EXPERIMENTAL=macos");
  }

  @Test
  void elsewhereThePropertyChangesNothing() {
    System.setProperty(Experimental.PROPERTY, "macos");

    assertThat(Experimental.onMacos()).isFalse();
    assertThat(Platform.current().preloadVariable()).isEqualTo("LD_PRELOAD");
    assertThat(Platform.current().libraryFile()).isEqualTo("libmallometer.so");
  }
}
