package io.mallometer.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ChildJvm;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** What a JVM with given options says about itself. */
class HotSpotTest {

  private static final long MIB = 1 << 20;

  @Test
  void onlyWhatSomebodySetIsALimit() {
    String unset = new ChildJvm().run(Configuration.class).output();
    String set =
        new ChildJvm()
            .options("-XX:MaxMetaspaceSize=100m", "-XX:ReservedCodeCacheSize=64m")
            .options("-XX:MaxDirectMemorySize=32m", "-Xss512k")
            .run(Configuration.class)
            .output();

    assertThat(unset)
        .contains("heap=" + 128 * MIB)
        .contains("metaspace=unknown code=unknown direct=unknown stack=" + MIB);
    assertThat(set)
        .contains(
            "metaspace=%d code=%d direct=%d stack=%d"
                .formatted(100 * MIB, 64 * MIB, 32 * MIB, MIB / 2));
  }

  /** Prints the limits. */
  static final class Configuration {

    private Configuration() {}

    public static void main(String[] arguments) {
      BudgetTable.Configuration limits = HotSpot.configuration(OptionalLong.of(1));
      System.out.println(
          "heap=%s metaspace=%s code=%s direct=%s stack=%s"
              .formatted(
                  text(limits.maximumHeapBytes()),
                  text(limits.metaspaceLimitBytes()),
                  text(limits.codeCacheLimitBytes()),
                  text(limits.directLimitBytes()),
                  text(limits.stackBytes())));
    }

    private static String text(OptionalLong value) {
      return value.isPresent() ? String.valueOf(value.getAsLong()) : "unknown";
    }
  }
}
