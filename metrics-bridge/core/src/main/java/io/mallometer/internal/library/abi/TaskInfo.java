package io.mallometer.internal.library.abi;

import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.ptr.IntByReference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.OptionalLong;

/**
 * The resident set of this process on macOS, by Mach's {@code task_info}, which JNA calls. The
 * build of the library for macOS checks the offset here against {@code struct task_vm_info}.
 */
public final class TaskInfo {

  /** The value of TASK_VM_INFO. */
  private static final int FLAVOR = 22;

  /** TASK_VM_INFO_REV1_COUNT, of macOS 10.11 and later, in words of 4 bytes. */
  static final int WORDS = 38;

  static final int RESIDENT = 16;

  private TaskInfo() {}

  /** Returns the resident bytes; empty if they cannot be read. Never throws. */
  public static OptionalLong residentBytes() {
    try {
      NativeLibrary system = NativeLibrary.getProcess();
      int task = system.getGlobalVariableAddress("mach_task_self_").getInt(0);
      IntByReference count = new IntByReference(WORDS);
      try (Memory info = new Memory(4L * WORDS)) {
        Object[] arguments = {task, FLAVOR, info, count};
        int error = system.getFunction("task_info").invokeInt(arguments);
        return error == 0
            ? decode(info.getByteBuffer(0, info.size()), count.getValue())
            : OptionalLong.empty();
      }
    } catch (RuntimeException | LinkageError e) {
      return OptionalLong.empty();
    }
  }

  static OptionalLong decode(ByteBuffer info, int words) {
    if (words < WORDS || info.remaining() < 4 * WORDS) {
      return OptionalLong.empty();
    }
    return OptionalLong.of(info.slice().order(ByteOrder.LITTLE_ENDIAN).getLong(RESIDENT));
  }
}
