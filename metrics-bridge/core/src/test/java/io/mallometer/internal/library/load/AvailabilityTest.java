package io.mallometer.internal.library.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AvailabilityTest {

  private static final String MAPS =
      "7f00-7f01 r-xp 00000000 fe:00 42 /usr/lib/x86_64-linux-gnu/libc.so.6\n";

  @Test
  void whatIsMappedDecidesNotWhatTheVariableNames() {
    assertThat(
            Availability.seemsLoaded(
                Optional.of(MAPS + "7f02-7f03 r-xp 0 fe:00 43 /opt/libmallometer.so (deleted)\n"),
                ""))
        .isTrue();
    assertThat(Availability.seemsLoaded(Optional.of(MAPS), "/opt/libmallometer.so")).isFalse();
  }

  @Test
  void aDirectoryOfThatNameIsNotTheLibrary() {
    assertThat(
            Availability.seemsLoaded(
                Optional.of("7f02-7f03 r-xp 0 fe:00 43 /opt/libmallometer.d/libz.so\n"), ""))
        .isFalse();
  }

  @Test
  void theVariableStandsInWhereProcIsHidden() {
    assertThat(Availability.seemsLoaded(Optional.empty(), "/opt/libmallometer.so")).isTrue();
    assertThat(Availability.seemsLoaded(Optional.empty(), "/opt/libjemalloc.so.2")).isFalse();
  }

  @Test
  void aNativeImageIsToldSo() {
    NativeLibrary library = Availability.of("runtime", null, false);

    assertThat(library.present()).isFalse();
    assertThat(library.read(Instant.EPOCH).status().state()).isEqualTo(State.UNAVAILABLE);
    assertThat(library.read(Instant.EPOCH).status().reason()).startsWith("a native image ");
    assertThat(library.allocator(Instant.EPOCH)).isEmpty();
    assertThat(library.trim()).isFalse();
    assertThat(Availability.of("buildtime", "true", false).read(Instant.EPOCH).status().reason())
        .doesNotContain("native image");
  }

  @ParameterizedTest
  @ValueSource(strings = {"off", "OFF", "false", "0", "no"})
  void theKillSwitchLeavesTheLibraryAlone(String off) {
    NativeLibrary library = Availability.of(null, off, false);

    assertThat(library.present()).isFalse();
    assertThat(library.read(Instant.EPOCH).status())
        .isEqualTo(
            new Status(
                State.DISABLED,
                "MALLOMETER_ENABLED=" + off,
                "Start without MALLOMETER_ENABLED=" + off));
  }

  @Test
  void anotherValueIsNoKillSwitch() {
    assertThat(Availability.of(null, "perhaps", false).read(Instant.EPOCH).status().state())
        .isNotEqualTo(State.DISABLED);
  }

  @Test
  void muslIsNamedWhereItServes() {
    String musl = "7f00-7f10 r-xp 00000000 08:01 12 /lib/ld-musl-x86_64.so.1\n";
    assertThat(Availability.allocator(Optional.of(musl))).isEqualTo("musl");
    assertThat(
            Availability.allocator(
                Optional.of(musl + "7f20-7f30 r-xp 00000000 08:01 13 /usr/lib/libjemalloc.so.2\n")))
        .isEqualTo("unknown");
    assertThat(Availability.allocator(Optional.of("7f00-7f10 r-xp 0 08:01 12 /lib/libc.so.6\n")))
        .isEqualTo("unknown");
    assertThat(Availability.allocator(Optional.empty())).isEqualTo("unknown");
  }

  @Test
  void aMissingClassOfTheJdkIsNotJnaMissing() {
    Throwable jna = new NoClassDefFoundError("com/sun/jna/NativeLibrary");
    jna.initCause(new ClassNotFoundException("com.sun.jna.NativeLibrary"));
    Throwable logging = new NoClassDefFoundError("java/util/logging/Level");
    logging.initCause(new ClassNotFoundException("java.util.logging.Level"));

    assertThat(Availability.unreachable(jna).reason()).isEqualTo("JNA is not on the class path");
    assertThat(Availability.unreachable(logging).reason())
        .isEqualTo("JNA needs the class java.util.logging.Level, which this Java runtime lacks");
    assertThat(Availability.unreachable(logging).remedy()).contains("--add-modules");
  }

  @Test
  void whatAClassFailedForIsNamed() {
    Throwable failure = new ExceptionInInitializerError(new IllegalStateException("no reason"));

    assertThat(Availability.unreachable(failure).reason())
        .isEqualTo("JNA cannot load its native part: java.lang.IllegalStateException: no reason");
  }
}
