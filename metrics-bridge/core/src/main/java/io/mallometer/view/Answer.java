package io.mallometer.view;

import java.io.IOException;
import java.io.OutputStream;

/** The answer to a request over HTTP. */
public sealed interface Answer {

  /** Returns the outcome of the request. */
  Outcome outcome();

  /** Returns the media type. */
  String contentType();

  /** Returns the body of the answer. */
  Body body();

  /** The outcome of a request, with its HTTP status. */
  enum Outcome {
    /** The request succeeded. */
    OK(200),
    /** A parameter has a value that is not allowed. */
    WRONG(400),
    /** A page of another origin sent the request. */
    FORBIDDEN(403),
    /** A name in the request does not exist. */
    UNKNOWN(404),
    /** A setting forbids changes. */
    NOT_ALLOWED(405),
    /** The operation is refused for now; a later request may succeed. */
    TOO_EARLY(429),
    /** This process does not support the request. */
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
   * An answer in JSON.
   *
   * @param view the content of the body
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
   * @param contentType the media type of the file
   * @param body writes the file, and does not close the stream
   */
  record Exported(String contentType, Body body) implements Answer {

    @Override
    public Outcome outcome() {
      return Outcome.OK;
    }
  }

  /**
   * A body in memory, so that a server can send its length first.
   *
   * @param bytes the body; callers must not change it
   */
  record Written(byte[] bytes) implements Body {

    @Override
    public void writeTo(OutputStream out) throws IOException {
      out.write(bytes);
    }
  }

  /** The body of an answer. */
  @FunctionalInterface
  interface Body {
    /** Writes the whole body. */
    void writeTo(OutputStream out) throws IOException;
  }
}
