package io.mallometer.internal.interposer;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlatformTest {

  @ParameterizedTest
  @CsvSource({
    "Linux, amd64, linux-x86-64, true",
    "Linux, aarch64, linux-aarch64, false",
    "Mac OS X, aarch64, macos-aarch64, false",
    "Windows Server 2022, amd64, windows-x86-64, false"
  })
  void onlyLinuxOnX86HasALibrary(String os, String architecture, String directory, boolean has) {
    Platform platform = Platform.of(os, architecture, "");

    assertThat(platform.directory()).isEqualTo(directory);
    assertThat(BundledLibrary.existsFor(platform)).isEqualTo(has);
  }

  @Test
  void muslIsAnotherPlatform() {
    String maps = "7f00-7f01 r-xp 00000000 fe:00 42 /lib/ld-musl-x86_64.so.1\n";
    Platform platform = Platform.of("Linux", "amd64", maps);

    assertThat(platform).hasToString("linux x86-64 with musl");
    assertThat(BundledLibrary.existsFor(platform)).isFalse();
  }
}
