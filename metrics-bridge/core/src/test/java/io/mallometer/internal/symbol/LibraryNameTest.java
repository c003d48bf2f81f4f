package io.mallometer.internal.symbol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("any-jdk")
class LibraryNameTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // JNI libraries unpack themselves under these names.
        "/tmp/sqlite-3.46.0-6f1c2b3a-0d3e-4f5a-8b7c-112233445566-libsqlitejdbc.so | libsqlitejdbc.so",
        "/tmp/snappy-1.1.10.5-6f1c2b3a-0d3e-4f5a-8b7c-112233445566-libsnappyjava.so | libsnappyjava.so",
        "/tmp/jansi-2.4.1-8d1f2e3c4b5a6978-libjansi.so | libjansi.so",
        "/tmp/jlinenative-3.25.0-8d1f2e3c4b5a6978-libjlinenative.so | libjlinenative.so",
        "/tmp/librocksdbjni1234567890123.so | librocksdbjni.so",
        "/tmp/librocksdbjni1234567890123.so (deleted) | librocksdbjni.so",
        "/tmp/libzstd-jni-1.5.6-31234567890.so | libzstd-jni.so",
        "/tmp/libzstd-jni-1.5.7-2817263545361728394.so (deleted) | libzstd-jni.so",
        "/tmp/liblz4-java-8765432109876543210.so | liblz4-java.so",
        "/tmp/libnetty_transport_native_epoll_x86_641234567.so | libnetty_transport_native_epoll_x86_64.so",
        "/tmp/libnetty_transport_native_epoll_aarch_6417263545361728394.so"
            + " | libnetty_transport_native_epoll_aarch_64.so",
        "/tmp/libnetty_tcnative_linux_x86_6417263545361728394.so | libnetty_tcnative_linux_x86_64.so",
        "/tmp/jna-3506402/jna12345.tmp | jna.tmp",
        "/root/.cache/JNA/temp/jna17263545361728394.tmp (deleted) | jna.tmp",
        "/tmp/jffi17263545361728394.so | jffi.so",
        "/tmp/libleveldbjni-64-1-17263545361728394.8 | libleveldbjni",
        "/tmp/1699999999999-libfoo.so | libfoo.so",
        "/tmp/AWSCRT_17263545361728394libaws-crt-jni.so | libaws-crt-jni.so",
        "/tmp/foo-17263545361728394-bar.so | foo-bar.so",
        "/tmp/17263545361728394.so | [unnamed]",
        // Distributions install libraries under these names.
        "/usr/lib/x86_64-linux-gnu/libfoo.so.1.2.3 | libfoo.so.1",
        "/usr/lib/x86_64-linux-gnu/libz.so.1 | libz.so.1",
        "/usr/lib/x86_64-linux-gnu/libcrypto.so.3 | libcrypto.so.3",
        "/usr/lib/x86_64-linux-gnu/libLLVM-14.so | libLLVM-14.so",
        "/usr/lib/libfoo-1.2.3.so | libfoo-1.2.3.so",
        "/usr/lib/libstdc++.so.6.0.30 | libstdc++.so.6",
        "/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so | libjvm.so",
        "/usr/lib/jvm/java-17-openjdk-amd64/bin/java | java",
        "/usr/lib/jvm/java-17-openjdk-amd64/bin/java (deleted) | java",
        "linux-vdso.so.1 | linux-vdso.so.1",
        "/usr/lib/libx86_64.so | libx86_64.so",
        "'' | [unnamed]",
      })
  void isTheSameInEveryRun(String path, String name) {
    assertThat(LibraryName.of(Optional.empty(), path)).isEqualTo(name);
  }

  @Test
  void isTheSonameIfThereIsOne() {
    assertThat(
            LibraryName.of(Optional.of("libjnidispatch.so"), "/tmp/jna17263545361.tmp (deleted)"))
        .isEqualTo("libjnidispatch.so");
    assertThat(LibraryName.of(Optional.of("libfoo.so.1"), "/tmp/libfoo.so.1.2.3"))
        .isEqualTo("libfoo.so.1");
    assertThat(LibraryName.of(Optional.of("@rpath/build/libfoo.so"), "")).isEqualTo("libfoo.so");
    assertThat(LibraryName.of(Optional.of("\n"), "/tmp/libfoo.so")).isEqualTo("libfoo.so");
  }

  @Test
  void isOnOneShortLine() {
    assertThat(LibraryName.of(Optional.empty(), "/tmp/lib\n\tfoo.so")).isEqualTo("libfoo.so");
    assertThat(LibraryName.of(Optional.empty(), "/tmp/" + "x".repeat(300))).hasSize(100);
  }
}
