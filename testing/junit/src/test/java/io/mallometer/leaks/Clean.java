package io.mallometer.leaks;

import com.github.luben.zstd.ZstdCompressCtx;
import com.sun.jna.Native;
import io.mallometer.junit.ExpectMaxNative;
import io.mallometer.junit.ExpectNativeFreed;
import io.mallometer.junit.ExpectNoNativeGrowth;
import java.nio.ByteBuffer;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.zip.Deflater;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Contains the tests of {@link Leaks}, changed so that they do not leak. */
public class Clean {

  private static final ByteBuffer REUSED = ByteBuffer.allocateDirect(1024);
  private static ExecutorService thread = Executors.newSingleThreadExecutor();

  @BeforeAll
  static void start() {
    thread = Executors.newSingleThreadExecutor();
  }

  @AfterAll
  static void end() {
    thread.shutdown();
  }

  @Test
  @ExpectNoNativeGrowth
  @ExpectNativeFreed
  @ExpectMaxNative(calls = 1, bytes = 1024)
  void mallocThroughJna() {
    Native.free(Native.malloc(1024));
  }

  @Test
  @ExpectNoNativeGrowth
  @ExpectNativeFreed
  void deflater() {
    Deflater deflater = new Deflater();
    deflater.setInput(new byte[100]);
    deflater.deflate(new byte[200]);
    deflater.end();
  }

  @Test
  @ExpectNoNativeGrowth
  void directBuffer() {
    REUSED.clear().putLong(1);
  }

  @Test
  @ExpectNoNativeGrowth
  @ExpectNativeFreed
  void contextOfAJniLibrary() {
    try (ZstdCompressCtx context = new ZstdCompressCtx()) {
      context.compress(new byte[100]);
    }
  }

  @Test
  @ExpectNoNativeGrowth
  @ExpectNativeFreed
  void mallocOnAnotherThread() throws InterruptedException, ExecutionException {
    thread.submit(() -> Native.free(Native.malloc(1024))).get();
  }
}
