package io.mallometer.samples.leaky;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;

/**
 * Hands reports page by page to a printer driver, in blocks from malloc, as a C library demands
 * them.
 *
 * <p>The leak: pages that the printer has acknowledged are not freed. Nothing in Java refers to
 * them any more.
 */
final class PrintSpool {
  /** The size of a page, in bytes. */
  static final int PAGE_BYTES = 64 * 1024;

  /** The number of printed copies of each report. */
  static final int COPIES = 4;

  private final LeakSwitch leak;

  PrintSpool(LeakSwitch leak) {
    this.leak = leak;
  }

  /** Prints the copies of a report; returns the checksum of all printed pages. */
  long print(Report report) {
    byte[] text = report.text().getBytes(StandardCharsets.UTF_8);
    CRC32 printed = new CRC32();
    for (int copy = 0; copy < COPIES; copy++) {
      for (int start = 0; start < text.length; start += PAGE_BYTES) {
        printPage(text, start, Math.min(PAGE_BYTES, text.length - start), printed);
      }
    }
    return printed.getValue();
  }

  private void printPage(byte[] text, int start, int length, CRC32 printed) {
    Pointer page = new Pointer(Native.malloc(PAGE_BYTES));
    page.write(0, text, start, length);
    printed.update(page.getByteBuffer(0, length));
    if (!leak.forgets(PAGE_BYTES)) {
      Native.free(Pointer.nativeValue(page));
    }
  }
}
