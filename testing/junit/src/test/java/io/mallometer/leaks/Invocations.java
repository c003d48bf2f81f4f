package io.mallometer.leaks;

import com.sun.jna.Native;
import io.mallometer.junit.ExpectNoNativeGrowth;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.zip.Deflater;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;

/** Ten clean tests and ten that leak 1 KiB each time, for {@code bin/soak junit}. */
public class Invocations {

  private static final List<ByteBuffer> KEPT = new ArrayList<>();
  private static ExecutorService other = Executors.newSingleThreadExecutor();

  @BeforeAll
  static void start() {
    other = Executors.newSingleThreadExecutor();
  }

  @AfterAll
  static void end() {
    other.shutdown();
  }

  @RepeatedTest(10)
  @ExpectNoNativeGrowth
  void clean(RepetitionInfo repetition) throws Exception {
    work();
    int kind = repetition.getCurrentRepetition() % 2;
    if (kind == 0) {
      Native.free(Native.malloc(1024));
    } else {
      other.submit(() -> Native.free(Native.malloc(1024))).get();
    }
  }

  @RepeatedTest(10)
  @ExpectNoNativeGrowth
  void leak(RepetitionInfo repetition) throws Exception {
    work();
    switch (repetition.getCurrentRepetition() % 3) {
      case 0 -> Native.malloc(1024);
      case 1 -> other.submit(() -> Native.malloc(1024)).get();
      default -> KEPT.add(ByteBuffer.allocateDirect(1024));
    }
  }

  /** What a test does beside: strings, regular expressions, a deflater that is closed. */
  private static void work() {
    Deflater deflater = new Deflater();
    deflater.setInput("a b c".repeat(100).replaceAll("[ab]+", "x").getBytes());
    deflater.finish();
    deflater.deflate(new byte[1000]);
    deflater.end();
  }
}
