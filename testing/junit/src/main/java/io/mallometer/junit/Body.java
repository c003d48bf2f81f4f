package io.mallometer.junit;

@FunctionalInterface
interface Body {
  /**
   * Fails a test that allocates more native memory than is allowed.
   *
   * <pre>{@code
   * @Test
   * @ExpectMaxNative(calls = 10, peak = 512 * 1024)
   * void compresses() {
   *   compressor.compress(document);
   * }
   * }</pre>
   *
   * <p>The method runs {@link #warmups()} times, which load classes and libraries, and then {@link
   * #iterations()} times. The median of these counts, because HotSpot allocates in some runs. A
   * limit that is not given is not checked.
   */
  void run() throws Throwable;
}
