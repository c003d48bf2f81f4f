package io.mallometer.interposer;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Memory that the library fills. */
final class Structs {

  private Structs() {}

  /** Zeroed memory; JNA's own Memory would start a thread that cleans up after it. */
  static ByteBuffer allocate(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
  }

  /** Where it is. */
  static long address(ByteBuffer direct) {
    return Pointer.nativeValue(Native.getDirectBufferPointer(direct));
  }
}
