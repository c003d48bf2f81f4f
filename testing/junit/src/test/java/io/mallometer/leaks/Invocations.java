package io.mallometer.leaks;

import com.github.luben.zstd.ZstdCompressCtx;
import com.sun.jna.Native;
import io.mallometer.junit.ExpectNoNativeGrowth;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;

/**
 * Ten clean tests and ten that leak, for {@code bin/soak junit}. Each kind of leak occurs twice:
 * malloc, malloc in another thread, a direct buffer, an Inflater and a zstd context.
 */
public class Invocations {

  private static final List<Object> KEPT = new ArrayList<>();
  private static ExecutorService other = Executors.newSingleThreadExecutor();

  @BeforeAll
  static void start() {
    other = Executors.newSingleThreadExecutor();
  }

  @AfterAll
  static void end() {
    other.shutdown();
    KEPT.clear();
  }

  @RepeatedTest(10)
  @ExpectNoNativeGrowth
  void clean(RepetitionInfo repetition) throws Exception {
    work();
    switch (repetition.getCurrentRepetition() % 3) {
      case 0 -> Native.free(Native.malloc(1024));
      case 1 -> other.submit(() -> Native.free(Native.malloc(1024))).get();
      default -> {
        try (ZstdCompressCtx context = new ZstdCompressCtx()) {
          context.compress(new byte[100]);
        }
      }
    }
  }

  @RepeatedTest(10)
  @ExpectNoNativeGrowth
  void leak(RepetitionInfo repetition) throws Exception {
    work();
    switch (repetition.getCurrentRepetition() % 5) {
      case 0 -> Native.malloc(1024);
      case 1 -> other.submit(() -> Native.malloc(1024)).get();
      case 2 -> KEPT.add(new Inflater());
      case 3 -> {
        ZstdCompressCtx context = new ZstdCompressCtx();
        context.compress(new byte[100]);
        KEPT.add(context);
      }
      default -> KEPT.add(ByteBuffer.allocateDirect(1024));
    }
  }

  private static void work() {
    Deflater deflater = new Deflater();
    deflater.setInput("a b c".repeat(100).replaceAll("[ab]+", "x").getBytes());
    deflater.finish();
    deflater.deflate(new byte[1000]);
    deflater.end();
  }
}
