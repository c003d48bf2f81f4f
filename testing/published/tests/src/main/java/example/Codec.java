package example;

import java.util.zip.Deflater;
import org.openjdk.jmh.annotations.Benchmark;

public class Codec {
  @Benchmark
  public void compress() {
    Deflater deflater = new Deflater();
    deflater.setInput(new byte[100]);
    deflater.deflate(new byte[200]);
    deflater.end();
  }
}
