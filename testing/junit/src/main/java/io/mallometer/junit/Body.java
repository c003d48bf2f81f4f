package io.mallometer.junit;

/** The body of a test, which runs several times while it is measured. */
@FunctionalInterface
interface Body {
  void run() throws Throwable;
}
