package io.mallometer.agent.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class TextTest {

  private static final List<String> FRAMES =
      List.of(
          "libzip.so!deflateInit2_+0x1f",
          "java.util.zip.Deflater.init(Deflater.java)",
          "org.library.Zip.open(Zip.java:7)",
          "com.shop.Report.render(Report.java:31)",
          "com.shop.Main.main(Main.java:5)");

  @Test
  void aStackGoesDownToTheFrameThatNamesItsSite() {
    assertThat(Text.stack(FRAMES, "com.shop.Report.render", 2)).isEqualTo(FRAMES.subList(0, 4));
    assertThat(Text.stack(FRAMES, "start-up (Main.main)", 2)).isEqualTo(FRAMES);
    assertThat(Text.stack(FRAMES, "java.util.zip.Deflater.init", 3))
        .isEqualTo(FRAMES.subList(0, 3));
  }

  @Test
  void aStateIsSaidOnce() {
    assertThat(Text.diagnosis("too_early", "Too early to tell: the application is starting"))
        .isEqualTo("Too early to tell: the application is starting");
    assertThat(Text.diagnosis("too_early", "Memory grows")).isEqualTo("too early: Memory grows");
    assertThat(Text.diagnosis("act", "Active calls allocate"))
        .isEqualTo("act: Active calls allocate");
  }

  @Test
  void aStackWithoutThatFrameGoesDownToTheFirstLineOutsideTheJdk() {
    assertThat(Text.stack(FRAMES, "com.shop.Other.run", 2)).isEqualTo(FRAMES.subList(0, 3));
    assertThat(Text.stack(List.of(), "com.shop.Other.run", 2)).isEmpty();
  }
}
