package io.mallometer.internal.library.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class RemedyTest {

  @Test
  void whatIsPreloadedAlreadyIsKeptBehindOurs() {
    Path library = Path.of("/cache/libmallometer.so");

    assertThat(Remedy.preload(library, "")).isEqualTo("LD_PRELOAD=/cache/libmallometer.so");
    assertThat(Remedy.preload(library, "/lib/libjemalloc.so.2 /gone/libmallometer.so"))
        .isEqualTo("LD_PRELOAD=/cache/libmallometer.so:/lib/libjemalloc.so.2");
  }
}
