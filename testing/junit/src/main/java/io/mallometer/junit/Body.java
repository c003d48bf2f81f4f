package io.mallometer.junit;

/** What runs again and again while it is measured. */
@FunctionalInterface
interface Body {
  /** Runs once. */
  void run() throws Throwable;
}
