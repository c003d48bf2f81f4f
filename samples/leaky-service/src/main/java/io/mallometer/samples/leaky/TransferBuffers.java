package io.mallometer.samples.leaky;

import java.nio.ByteBuffer;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.zip.CRC32C;

/**
 * Sends packed reports through direct buffers. The buffers are pooled, so their native memory grows
 * once and is not a leak.
 */
final class TransferBuffers {
  static final int BUFFER_BYTES = 64 * 1024;
  private static final int BUFFERS = 16;

  private final BlockingQueue<ByteBuffer> idle = new ArrayBlockingQueue<>(BUFFERS);

  TransferBuffers() {
    for (int i = 0; i < BUFFERS; i++) {
      idle.add(ByteBuffer.allocateDirect(BUFFER_BYTES));
    }
  }

  /**
   * Sends {@code content} in pieces and returns the checksum for the receiver.
   *
   * @throws InterruptedException if the thread is interrupted while all buffers are in use
   */
  long send(byte[] content) throws InterruptedException {
    CRC32C checksum = new CRC32C();
    ByteBuffer buffer = idle.take();
    try {
      for (int start = 0; start < content.length; start += BUFFER_BYTES) {
        buffer.clear();
        buffer.put(content, start, Math.min(BUFFER_BYTES, content.length - start));
        checksum.update(buffer.flip());
      }
    } finally {
      idle.add(buffer);
    }
    return checksum.getValue();
  }
}
