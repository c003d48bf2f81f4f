package io.mallometer.view;

import java.io.IOException;
import java.io.OutputStream;

/** Answer to a request over HTTP. */
public sealed interface Answer {

  /** How it went. */
  Outcome outcome();

  /** The media type. */
  String contentType();

  /** Writes the answer. */
  Body body();

  /** How a request went, with HTTP's number for it. */
  enum Outcome {
    /** As asked. */
    OK(200),
    /** A parameter makes no sense. */
    WRONG(400),
    /** Another site's page asks. */
    FORBIDDEN(403),
    /** There is nothing of that name. */
    UNKNOWN(404),
    /** A setting forbids to change anything. */
    NOT_ALLOWED(405),
    /** Not so soon again. */
    TOO_EARLY(429),
    /** This process does not have it. */
    UNSUPPORTED(501);

    private final int status;

    Outcome(int status) {
      this.status = status;
    }

    /** Returns the HTTP status. */
    public int status() {
      return status;
    }
  }

  /**
   * Something to be written as JSON.
   *
   * @param view what
   */
  record Told(Outcome outcome, View view) implements Answer {

    @Override
    public String contentType() {
      return "application/json;charset=UTF-8";
    }

    @Override
    public Body body() {
      return view::write;
    }

    static Told ok(View view) {
      return new Told(Outcome.OK, view);
    }

    static Told refused(Outcome outcome, String reason) {
      return new Told(outcome, new RefusalView(reason));
    }
  }

  /**
   * A file in the format of another tool.
   *
   * @param contentType its media type
   * @param body writes it while it is made, and does not close the stream
   */
  record Exported(String contentType, Body body) implements Answer {

    @Override
    public Outcome outcome() {
      return Outcome.OK;
    }
  }

  /**
   * A body in memory, which a server can send with its length.
   *
   * @param bytes the body; not to be changed
   */
  record Written(byte[] bytes) implements Body {

    @Override
    public void writeTo(OutputStream out) throws IOException {
      out.write(bytes);
    }
  }

  /** What writes a file. */
  @FunctionalInterface
  interface Body {
    /** Writes all of it. */
    void writeTo(OutputStream out) throws IOException;
  }
}
