package io.mallometer.benchmarks.leaks;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.Deflater;

/** Content that is the same in each run. */
final class Texts {

  private Texts() {}

  static byte[] compressible(int bytes) {
    Random random = new Random(3);
    StringBuilder words = new StringBuilder();
    while (words.length() < bytes) {
      words.append(Integer.toString(random.nextInt(1000), 36)).append(' ');
    }
    return words.substring(0, bytes).getBytes(StandardCharsets.US_ASCII);
  }

  static byte[] deflated(byte[] text) {
    byte[] output = new byte[2 * text.length];
    Deflater deflater = new Deflater();
    try {
      deflater.setInput(text);
      deflater.finish();
      return Arrays.copyOf(output, deflater.deflate(output));
    } finally {
      deflater.end();
    }
  }
}
