package io.mallometer.junit;

/** Body of a test, which runs several times while it is measured. */
@FunctionalInterface
interface Body {
  /** Runs once. */
  void run() throws Throwable;
}
