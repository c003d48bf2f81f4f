package io.mallometer.jmh;

import com.sun.jna.Native;
import java.util.concurrent.TimeUnit;
import java.util.zip.Deflater;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Benchmarks with known allocations. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 2, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 3, time = 200, timeUnit = TimeUnit.MILLISECONDS)
public class Allocations {

  private final byte[] text = new byte[4096];
  private final byte[] compressed = new byte[8192];

  @Benchmark
  public void three() {
    Native.free(Native.malloc(100));
    Native.free(Native.malloc(100));
    Native.free(Native.malloc(10_000));
  }

  @Benchmark
  public long leak() {
    return Native.malloc(100);
  }

  @Benchmark
  public int deflate() {
    Deflater deflater = new Deflater();
    deflater.setInput(text);
    deflater.finish();
    int bytes = deflater.deflate(compressed);
    deflater.end();
    return bytes;
  }
}
