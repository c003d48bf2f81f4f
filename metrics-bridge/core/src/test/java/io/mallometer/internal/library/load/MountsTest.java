package io.mallometer.internal.library.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class MountsTest {

  private static final String MOUNTINFO =
      """
      23 29 0:21 / /proc rw,nosuid,nodev,noexec,relatime shared:12 - proc proc rw
      29 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
      30 29 0:26 / /tmp rw,nosuid,nodev,noexec shared:2 - tmpfs tmpfs rw,size=65536k
      31 30 0:27 / /tmp/exec rw,relatime shared:3 - tmpfs tmpfs rw
      32 29 0:28 / /my\\040home rw,noexec shared:4 - tmpfs tmpfs rw
      33 29 0:29 / /srv rw,noexec shared:5 - tmpfs tmpfs rw
      34 33 0:30 / /srv rw,relatime shared:6 - tmpfs tmpfs rw
      """;

  @Test
  void theInnermostMountCounts() {
    assertThat(noexec("/home/user/.cache")).isFalse();
    assertThat(noexec("/tmp/mallometer-user")).isTrue();
    assertThat(noexec("/tmp/exec/mallometer")).isFalse();
    assertThat(noexec("/tmpfiles")).isFalse();
  }

  @Test
  void namesWithSpacesAreUnderstood() {
    assertThat(noexec("/my home/.cache")).isTrue();
  }

  @Test
  void theLatestMountAtAPlaceHidesEarlierOnes() {
    assertThat(noexec("/srv/x")).isFalse();
  }

  @Test
  void filesOfAContainerAndInMemoryDoNotLast() {
    String container =
        "25 1 0:25 / / rw,relatime - overlay overlay rw,lowerdir=/l\n"
            + "26 25 0:26 / /cache rw,relatime shared:2 - ext4 /dev/vdb rw\n";

    assertThat(Mounts.temporary(container, Path.of("/root/.cache"))).isTrue();
    assertThat(Mounts.temporary(container, Path.of("/cache/mallometer"))).isFalse();
    assertThat(Mounts.temporary(MOUNTINFO, Path.of("/tmp/exec/mallometer"))).isTrue();
    assertThat(Mounts.temporary(MOUNTINFO, Path.of("/home/user/.cache"))).isFalse();
    assertThat(Mounts.temporary("", Path.of("/tmp"))).isFalse();
  }

  @Test
  void withoutKnowledgeNothingIsForbidden() {
    assertThat(Mounts.noexec("", Path.of("/tmp"))).isFalse();
    assertThat(Mounts.noexec("nonsense\n", Path.of("/tmp"))).isFalse();
  }

  private static boolean noexec(String path) {
    return Mounts.noexec(MOUNTINFO, Path.of(path));
  }
}
