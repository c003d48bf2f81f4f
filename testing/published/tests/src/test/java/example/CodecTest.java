package example;

import io.mallometer.junit.ExpectMaxNative;
import io.mallometer.junit.ExpectNoNativeGrowth;
import java.util.zip.Deflater;
import org.junit.jupiter.api.Test;

/** Uses more native memory with -Dmore=true, and leaks with -Dleak=true. */
class CodecTest {
  @Test
  @ExpectMaxNative(calls = 100)
  void compresses() {
    new Codec().compress();
    if (Boolean.getBoolean("more")) {
      new Codec().compress();
    }
  }

  @Test
  @ExpectNoNativeGrowth
  void keepsNothing() {
    Deflater deflater = new Deflater();
    if (!Boolean.getBoolean("leak")) {
      deflater.end();
    }
  }
}
