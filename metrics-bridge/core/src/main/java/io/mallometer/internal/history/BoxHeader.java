package io.mallometer.internal.history;

import io.mallometer.internal.process.ThisProcess;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;

/** The header of a black box that is written without the library. */
final class BoxHeader {

  private BoxHeader() {}

  static ByteBuffer ofThisProcess(Clock clock, LongSupplier nanoTime) {
    ByteBuffer header = BoxFormat.buffer(BoxFormat.HEADER_BYTES);
    header.put(0, BoxFormat.MAGIC);
    header.putInt(BoxFormat.HEADER_FORMAT, BoxFormat.FORMAT);
    header.putInt(BoxFormat.HEADER_LENGTH, BoxFormat.HEADER_BYTES);
    header.putLong(BoxFormat.HEADER_FILE_BYTES, BoxFormat.FILE_BYTES);
    header.putLong(BoxFormat.HEADER_LIFE, ThreadLocalRandom.current().nextLong());
    header.putLong(BoxFormat.HEADER_STARTED_REALTIME, BoxFile.realtimeNanos(clock.instant()));
    header.putLong(BoxFormat.HEADER_STARTED_MONOTONIC, nanoTime.getAsLong());
    header.putInt(BoxFormat.HEADER_PID, (int) ProcessHandle.current().pid());
    header.putInt(BoxFormat.HEADER_REGIONS_USED, BoxFormat.LAYOUT.length);
    ThisProcess process = ThisProcess.look();
    header.putLong(BoxFormat.HEADER_START_TICKS, process.startTicks());
    header.putLong(BoxFormat.HEADER_CGROUP_INODE, process.cgroupInode());
    BoxFormat.putText(header, BoxFormat.HEADER_CGROUP, BoxFormat.CGROUP_BYTES, process.cgroup());
    BoxFormat.putText(header, BoxFormat.HEADER_BOOT_ID, BoxFormat.BOOT_ID_BYTES, process.bootId());
    BoxFormat.putText(header, BoxFormat.HEADER_BUILD, BoxFormat.BUILD_BYTES, build());
    BoxFormat.putText(header, BoxFormat.HEADER_EXECUTABLE, BoxFormat.EXECUTABLE_BYTES, "java");
    for (int i = 0; i < BoxFormat.LAYOUT.length; i++) {
      BoxFormat.LAYOUT[i].write(header, BoxFormat.HEADER_REGIONS + i * BoxFormat.REGION_BYTES);
    }
    header.putInt(
        BoxFormat.HEADER_CHECKSUM, BoxFormat.checksum(header, 0, BoxFormat.HEADER_CHECKSUM));
    return header;
  }

  private static String build() {
    String version = BoxHeader.class.getPackage().getImplementationVersion();
    return version == null ? "unknown" : version;
  }

  /** Whether two headers are of one process. */
  static boolean sameProcess(ByteBuffer one, ByteBuffer other) {
    String boot = BoxFormat.text(one, BoxFormat.HEADER_BOOT_ID, BoxFormat.BOOT_ID_BYTES);
    long ticks = one.getLong(BoxFormat.HEADER_START_TICKS);
    return ticks != 0
        && ticks == other.getLong(BoxFormat.HEADER_START_TICKS)
        && one.getInt(BoxFormat.HEADER_PID) == other.getInt(BoxFormat.HEADER_PID)
        && boot.equals(BoxFormat.text(other, BoxFormat.HEADER_BOOT_ID, BoxFormat.BOOT_ID_BYTES));
  }
}
