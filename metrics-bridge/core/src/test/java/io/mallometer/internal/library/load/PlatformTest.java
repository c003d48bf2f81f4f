package io.mallometer.internal.library.load;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlatformTest {

  @ParameterizedTest
  @CsvSource({
    "Linux, amd64, linux-x86-64",
    "Linux, aarch64, linux-aarch64",
    "Mac OS X, aarch64, macos-aarch64",
    "Windows Server 2022, amd64, windows-x86-64"
  })
  void aPlatformHasItsDirectory(String os, String architecture, String directory) {
    assertThat(Platform.of(os, architecture, "").directory()).isEqualTo(directory);
  }

  @Test
  void aJarHasTheLibraryOfWhatItWasBuiltOn() {
    String processor = System.getProperty("os.arch");

    assertThat(BundledLibrary.existsFor(Platform.of("Linux", processor, ""))).isTrue();
    assertThat(BundledLibrary.existsFor(Platform.of("Mac OS X", processor, ""))).isFalse();
    assertThat(BundledLibrary.existsFor(Platform.of("Windows 11", processor, ""))).isFalse();
  }

  @Test
  void theRemedyNamesWhatThePlatformNeeds() {
    assertThat(Remedy.elsewhere(Platform.of("Linux", "aarch64", "")))
        .contains("linux-aarch64")
        .contains("mvn -P all-platforms");
    assertThat(Remedy.elsewhere(Platform.of("Linux", "riscv64", ""))).isEqualTo(Remedy.container());
  }

  /** The library can be preloaded on musl, but a running process cannot open it. */
  @Test
  void onMuslNobodyIsToldToAttach() {
    Platform musl =
        Platform.of("Linux", "amd64", "7f00-7f01 r-xp 0 fe:00 42 /lib/ld-musl-x86_64.so.1\n");

    assertThat(Availability.notPreloaded(musl, true).reason())
        .isEqualTo("the library is not preloaded, and musl does not open it in a running process");
    assertThat(Availability.notPreloaded(musl, true).remedy())
        .contains("LD_PRELOAD=")
        .doesNotContain("attach");
  }

  @Test
  void muslHasTheSameLibrary() {
    String maps = "7f00-7f01 r-xp 00000000 fe:00 42 /lib/ld-musl-x86_64.so.1\n";
    Platform platform = Platform.of("Linux", "amd64", maps);

    assertThat(platform).hasToString("linux x86-64 with musl");
    assertThat(platform.directory()).isEqualTo("linux-x86-64");
    assertThat(BundledLibrary.existsFor(platform)).isTrue();
  }
}
