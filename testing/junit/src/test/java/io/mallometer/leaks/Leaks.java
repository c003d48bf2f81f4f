package io.mallometer.leaks;

import com.github.luben.zstd.ZstdCompressCtx;
import com.sun.jna.Native;
import io.mallometer.junit.ExpectNoNativeGrowth;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.zip.Deflater;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Leaks of five kinds. {@code FiveLeaksTest} runs this class and expects failures. */
public class Leaks {

  private static final List<Object> KEPT = new ArrayList<>();
  private static ExecutorService thread = Executors.newSingleThreadExecutor();

  @BeforeAll
  static void start() {
    thread = Executors.newSingleThreadExecutor();
  }

  @AfterAll
  static void end() {
    thread.shutdown();
    KEPT.clear();
  }

  @Test
  @ExpectNoNativeGrowth
  void mallocThroughJna() {
    Native.malloc(1024);
  }

  @Test
  @ExpectNoNativeGrowth
  void deflaterWithoutEnd() {
    Deflater deflater = new Deflater();
    deflater.setInput(new byte[100]);
    deflater.deflate(new byte[200]);
  }

  @Test
  @ExpectNoNativeGrowth
  void directBuffersInAList() {
    KEPT.add(ByteBuffer.allocateDirect(1024));
  }

  @Test
  @ExpectNoNativeGrowth
  void contextOfAJniLibrary() {
    ZstdCompressCtx context = new ZstdCompressCtx();
    context.compress(new byte[100]);
    KEPT.add(context);
  }

  @Test
  @ExpectNoNativeGrowth
  void mallocOnAnotherThread() throws InterruptedException, ExecutionException {
    thread.submit(() -> Native.malloc(1024)).get();
  }
}
