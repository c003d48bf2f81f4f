package io.mallometer.benchmarks.owner.kernels;

import io.mallometer.benchmarks.owner.Kernel;
import io.mallometer.model.OwnerReport.Holding;
import java.lang.ref.SoftReference;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * Inflaters that have read half of their input, in a cache of soft references in an idle heap. Most
 * bytes are zlib's windows: Java refers to the z_stream, that to the state, and that to the window.
 */
public final class SoftCache implements Kernel {

  private static final Map<String, SoftReference<Inflater>> OPEN_PAGES = new HashMap<>();

  @Override
  public Holding holding() {
    return Holding.SOFTLY;
  }

  @Override
  public List<String> words() {
    return List.of("InflaterZStreamRef.address", "Inflater.zsRef", "static SoftCache.OPEN_PAGES");
  }

  @Override
  public void plant() throws DataFormatException {
    byte[] page = compressed();
    byte[] beginning = new byte[5_000];
    for (int i = 0; i < 200; i++) {
      Inflater inflater = new Inflater();
      inflater.setInput(page);
      inflater.inflate(beginning);
      OPEN_PAGES.put("page " + i, new SoftReference<>(inflater));
    }
  }

  private static byte[] compressed() {
    byte[] page = new byte[60_000];
    for (int i = 0; i < page.length; i++) {
      page[i] = (byte) (i * i >> 5);
    }
    Deflater deflater = new Deflater();
    try {
      deflater.setInput(page);
      deflater.finish();
      byte[] result = new byte[80_000];
      deflater.deflate(result);
      return result;
    } finally {
      deflater.end();
    }
  }
}
