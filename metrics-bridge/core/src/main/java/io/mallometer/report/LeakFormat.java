package io.mallometer.report;

import io.mallometer.model.LeakReport;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;

/** Formats of verdicts for people. */
public enum LeakFormat {
  /** Lines of text. */
  TEXT("text", "text/plain;charset=UTF-8", "txt", "verdicts on leaks as text", new LeakText()),
  /** An HTML file that needs no other file. */
  HTML(
      "html",
      "text/html;charset=UTF-8",
      "html",
      "verdicts on leaks as one HTML file",
      new LeakPage());

  interface Writing {
    void write(LeakReport leaks, boolean all, Appendable out) throws IOException;
  }

  private final String id;
  private final String contentType;
  private final String extension;
  private final String title;
  private final Writing writing;

  LeakFormat(String id, String contentType, String extension, String title, Writing writing) {
    this.id = id;
    this.contentType = contentType;
    this.extension = extension;
    this.title = title;
    this.writing = writing;
  }

  /** Returns the name that URLs and options use. */
  public String id() {
    return id;
  }

  /** Returns the media type. */
  public String contentType() {
    return contentType;
  }

  /** Returns the suffix of a file's name, without the dot. */
  public String extension() {
    return extension;
  }

  /** Returns the purpose of the format, in a few words. */
  public String title() {
    return title;
  }

  /**
   * Writes verdicts. Flushes the stream and does not close it.
   *
   * @param all whether to include healthy sites
   */
  public void write(LeakReport leaks, boolean all, OutputStream out) throws IOException {
    Writer writer = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8));
    writing.write(leaks, all, writer);
    writer.flush();
  }
}
