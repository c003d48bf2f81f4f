package io.mallometer.samples;

import io.mallometer.junit.ExpectNativeFreed;
import io.mallometer.junit.ExpectNoNativeGrowth;
import java.util.zip.Deflater;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Uses a Deflater, whose memory stays until a garbage collection unless it is ended. */
class CompressionTest {

  private final byte[] text = "to be compressed".repeat(100).getBytes();
  private final byte[] compressed = new byte[1000];

  @Tag("leak")
  @Test
  @ExpectNoNativeGrowth
  void deflaterIsNotEnded() {
    deflate(new Deflater());
  }

  @Test
  @ExpectNoNativeGrowth
  @ExpectNativeFreed
  void deflaterIsEnded() {
    Deflater deflater = new Deflater();
    deflate(deflater);
    deflater.end();
  }

  private void deflate(Deflater deflater) {
    deflater.setInput(text);
    deflater.finish();
    deflater.deflate(compressed);
  }
}
