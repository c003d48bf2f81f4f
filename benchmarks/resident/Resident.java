import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.Random;

/**
 * Programs whose resident set is to be divided into parts. "jna" maps and touches 120 MiB by a foreign function, and "netty" holds 80 MiB
 * of pooled buffers of changing sizes in four threads.
 */
public final class Resident {

  private static final long BYTES = 120L << 20;
  private static final int HELD = 20 << 20;

  private Resident() {}

  public static void main(String[] arguments) throws Exception {
    if (arguments[0].equals("jna")) {
      mapMemory().clear(BYTES);
    } else {
      for (int i = 0; i < 4; i++) {
        Thread thread = new Thread(Resident::useBuffers, "event-loop-" + i);
        thread.start();
      }
    }
    Thread.sleep(Long.MAX_VALUE);
  }

  private static Pointer mapMemory() {
    Function mmap = NativeLibrary.getProcess().getFunction("mmap");
    return mmap.invokePointer(new Object[] {Pointer.NULL, BYTES, 3, 0x22, -1, 0L});
  }

  private static void useBuffers() {
    Queue<ByteBuf> held = new ArrayDeque<>();
    Random random = new Random(1);
    long bytes = 0;
    try {
      for (int i = 1; ; i++) {
        ByteBuf buffer = PooledByteBufAllocator.DEFAULT.directBuffer(100 + random.nextInt(i % 100 == 0 ? 3_000_000 : 60_000));
        buffer.writeZero(buffer.capacity());
        held.add(buffer);
        bytes += buffer.capacity();
        while (bytes > HELD) {
          ByteBuf oldest = held.remove();
          bytes -= oldest.capacity();
          oldest.release();
        }
        if (i % 20 == 0) {
          Thread.sleep(20);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
