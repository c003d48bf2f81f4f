package io.mallometer.samples.leaky;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * Packs reports with zlib.
 *
 * <p>The leak: some deflaters are never ended. Their cleaners cannot end them, because {@code
 * openArchives} refers to them.
 */
final class ReportArchive {
  /**
   * The bytes of a deflater with default settings, in five blocks. Source of the number: zlib's
   * zconf.h.
   */
  static final long DEFLATER_BYTES = 268_200;

  private static final int BUFFER_BYTES = 8192;

  private final LeakSwitch leak;
  private final Queue<Deflater> openArchives = new ConcurrentLinkedQueue<>();

  ReportArchive(LeakSwitch leak) {
    this.leak = leak;
  }

  byte[] pack(Report report) {
    Deflater deflater = new Deflater();
    deflater.setInput(report.text().getBytes(StandardCharsets.UTF_8));
    deflater.finish();
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    byte[] buffer = new byte[BUFFER_BYTES];
    while (!deflater.finished()) {
      packed.write(buffer, 0, deflater.deflate(buffer));
    }
    closeArchive(deflater);
    return packed.toByteArray();
  }

  /**
   * Returns the text that was packed.
   *
   * @throws IllegalArgumentException if {@code packed} is not a result of {@link #pack}
   */
  String unpack(byte[] packed) {
    Inflater inflater = new Inflater();
    try {
      inflater.setInput(packed);
      ByteArrayOutputStream text = new ByteArrayOutputStream();
      byte[] buffer = new byte[BUFFER_BYTES];
      while (!inflater.finished()) {
        int length = inflater.inflate(buffer);
        if (length == 0 && !inflater.finished()) {
          throw new IllegalArgumentException("the archive ends early");
        }
        text.write(buffer, 0, length);
      }
      return text.toString(StandardCharsets.UTF_8);
    } catch (DataFormatException notAnArchive) {
      throw new IllegalArgumentException(notAnArchive);
    } finally {
      inflater.end();
    }
  }

  private void closeArchive(Deflater deflater) {
    if (leak.forgets(DEFLATER_BYTES)) {
      openArchives.add(deflater);
    } else {
      deflater.end();
    }
  }
}
