package io.mallometer.model;

/**
 * The state of the termination message: a file that Kubernetes shows for a container that ended.
 * mallometer writes its diagnosis there while memory is scarce or rises fast.
 */
public record TerminationMessage(
    @Figure("Whether the file is taken for the message") boolean on,
    @Figure("The file; empty if the message is switched off") String path,
    @Figure("Why there is no message; empty while there may be one") String reason) {

  /** Returns a state without a message: {@code on} is false, and {@code reason} says why. */
  public static TerminationMessage off(String path, String reason) {
    return new TerminationMessage(false, path, reason);
  }
}
