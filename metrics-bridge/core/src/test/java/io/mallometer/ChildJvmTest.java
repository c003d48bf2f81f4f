package io.mallometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChildJvmTest {

  @TempDir private Path directory;

  @Test
  void oneJdkOfEachReleaseIsFound() throws Exception {
    Path old = jdk("old", "17.0.15");
    Path first = jdk("first", "25");
    Path second = jdk("second", "25.0.1");
    Path none = Files.createDirectory(directory.resolve("none"));
    List<Path> homes = List.of(none, old, first, second);

    assertThat(ChildJvm.jdksSince(17, homes, List.of())).containsExactly(old, first);
    assertThat(ChildJvm.jdksSince(24, homes, List.of(17, 25))).containsExactly(first);
    assertThat(ChildJvm.jdksSince(26, homes, List.of())).isEmpty();
  }

  @Test
  void aRequiredJdkThatIsMissingFails() throws Exception {
    List<Path> homes = List.of(jdk("old", "17.0.15"));

    assertThatThrownBy(() -> ChildJvm.jdksSince(24, homes, List.of(17, 25)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("JDK 25 is required");
  }

  @Test
  void theJdkOfTheTestsIsAmongThem() {
    assertThat(ChildJvm.jdksSince(Runtime.version().feature())).isNotEmpty();
  }

  private Path jdk(String name, String version) throws Exception {
    Path home = Files.createDirectory(directory.resolve(name));
    Files.writeString(home.resolve("release"), "JAVA_VERSION=\"" + version + "\"\n");
    return home;
  }
}
