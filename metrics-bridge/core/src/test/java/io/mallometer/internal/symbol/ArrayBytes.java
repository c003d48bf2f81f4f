package io.mallometer.internal.symbol;

record ArrayBytes(byte[] bytes, long start) implements Bytes {

  @Override
  public boolean read(long position, byte[] into, int length) {
    long from = position - start;
    if (from < 0 || from > bytes.length || length > bytes.length - from) {
      return false;
    }
    System.arraycopy(bytes, (int) from, into, 0, length);
    return true;
  }
}
