package io.mallometer.samples.leaky;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;

/**
 * Hands the pages of reports to a printer driver in blocks from malloc.
 *
 * <p>The leak: some blocks are not freed, and no Java object refers to them.
 */
final class PrintSpool {
  static final int PAGE_BYTES = 64 * 1024;

  static final int COPIES = 4;

  private final LeakSwitch leak;

  PrintSpool(LeakSwitch leak) {
    this.leak = leak;
  }

  /** Prints the copies of a report and returns the checksum of all pages. */
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
