package io.mallometer.spring;

import io.mallometer.view.Answer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * A stream from which the web server reads a report while another thread writes it, so that the
 * whole report is never in memory. If the reader closes the stream early, writing ends.
 */
final class ReportStream extends PipedInputStream {

  private static final int BUFFER_BYTES = 64 << 10;

  private volatile @Nullable Throwable failure;

  private ReportStream() {
    super(BUFFER_BYTES);
  }

  static InputStream of(Answer.Body report) throws IOException {
    ReportStream stream = new ReportStream();
    PipedOutputStream out = new PipedOutputStream(stream);
    Thread thread =
        new Thread(null, () -> stream.write(report, out), "mallometer-report", 0, false);
    thread.setDaemon(true);
    thread.start();
    return stream;
  }

  private void write(Answer.Body report, PipedOutputStream pipe) {
    try (OutputStream out = pipe) {
      try {
        report.writeTo(out);
      } catch (Throwable e) {
        failure = e;
      }
    } catch (IOException e) {
      // The reader has closed the stream.
      failure = e;
    }
  }

  @Override
  public synchronized int read() throws IOException {
    return complete(super.read());
  }

  @Override
  public synchronized int read(byte[] bytes, int offset, int length) throws IOException {
    return complete(super.read(bytes, offset, length));
  }

  /**
   * Throws at the end of a report that could not be written completely. The reader would otherwise
   * take the report for complete.
   */
  private int complete(int read) throws IOException {
    if (read < 0 && failure != null) {
      throw new IOException("the report could not be written", failure);
    }
    return read;
  }
}
