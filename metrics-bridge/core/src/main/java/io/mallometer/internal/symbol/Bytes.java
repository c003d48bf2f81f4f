package io.mallometer.internal.symbol;

/** The bytes of a file by their offset, or the bytes of a process by their address. */
public interface Bytes extends AutoCloseable {

  /**
   * Copies bytes.
   *
   * @param position the position of the first byte; any number
   * @param length the number of bytes, at most the length of {@code into}
   * @return whether all bytes could be read; if not, {@code into} may hold anything
   */
  boolean read(long position, byte[] into, int length);

  /** Closes the source. Never throws. */
  @Override
  default void close() {}
}
