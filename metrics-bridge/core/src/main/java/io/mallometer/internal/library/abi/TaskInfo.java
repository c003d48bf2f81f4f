package io.mallometer.internal.library.abi;

import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.ptr.IntByReference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/**
 * The memory of this process on macOS: Mach's {@code task_info}, called through JNA.
 *
 * <p>The figures are those of {@code struct task_vm_info} in {@code mach/task_info.h}, packed to 4
 * bytes. The build of the library for macOS compares the offsets with that header.
 */
public final class TaskInfo {

  /** The value of TASK_VM_INFO. */
  private static final int FLAVOR = 22;

  /** TASK_VM_INFO_REV1_COUNT, of macOS 10.11 and later, in words of 4 bytes. */
  static final int WORDS = 38;

  static final int RESIDENT = 16;
  static final int COMPRESSED = 120;
  static final int FOOTPRINT = 144;

  private TaskInfo() {}

  /**
   * Figures of one moment, in bytes.
   *
   * @param residentBytes resident memory without compressed pages
   * @param compressedBytes memory that the kernel has compressed, by its size before
   * @param footprintBytes memory that the kernel charges to the process; on iOS the kernel ends a
   *     process with too much of it
   */
  public record Figures(long residentBytes, long compressedBytes, long footprintBytes) {}

  /** Reads the figures; empty if the system or JNA has none. Never throws. */
  public static Optional<Figures> read() {
    try {
      NativeLibrary system = NativeLibrary.getProcess();
      int task = system.getGlobalVariableAddress("mach_task_self_").getInt(0);
      IntByReference count = new IntByReference(WORDS);
      try (Memory info = new Memory(4L * WORDS)) {
        Object[] arguments = {task, FLAVOR, info, count};
        int error = system.getFunction("task_info").invokeInt(arguments);
        return error == 0
            ? decode(info.getByteBuffer(0, info.size()), count.getValue())
            : Optional.empty();
      }
    } catch (RuntimeException | LinkageError e) {
      return Optional.empty();
    }
  }

  /**
   * Decodes the struct.
   *
   * @param words the number of words that the kernel has written
   */
  static Optional<Figures> decode(ByteBuffer info, int words) {
    if (words < WORDS || info.remaining() < 4 * WORDS) {
      return Optional.empty();
    }
    ByteBuffer struct = info.slice().order(ByteOrder.LITTLE_ENDIAN);
    return Optional.of(
        new Figures(
            struct.getLong(RESIDENT), struct.getLong(COMPRESSED), struct.getLong(FOOTPRINT)));
  }
}
