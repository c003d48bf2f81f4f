package io.mallometer.internal.symbol;

/** The bytes of a file by their offset, or those of a process by their address. */
public interface Bytes extends AutoCloseable {

  /**
   * Copies bytes.
   *
   * @param position that of the first; any number
   * @param into receives them from its beginning
   * @param length how many, at most the length of {@code into}
   * @return whether all of them are there; if not, {@code into} may hold anything
   */
  boolean read(long position, byte[] into, int length);

  /** Never throws: what was read is known. */
  @Override
  default void close() {}
}
