package io.mallometer.internal.interposer;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import io.mallometer.internal.interposer.Relaunch.Caller;
import io.mallometer.internal.interposer.Relaunch.Refused;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The descriptors of a process that is to be executed once more.
 *
 * <p>What the process was given must still be open then: standard input and output, sockets of
 * systemd, the lock of a script. What this JVM opened itself would be open for good, as the kernel
 * does not tell who opened what. So files that only a JVM opens are marked to be closed, and all
 * others are kept. A socket means that the program has begun to talk, unless it was inherited.
 */
final class RelaunchDescriptors implements AutoCloseable {

  private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

  /** The last of standard input, output and errors. */
  private static final int STANDARD_ERROR = 2;

  /** O_CLOEXEC, FD_CLOEXEC, F_SETFD and POLLHUP of Linux. */
  private static final int OPENED_TO_BE_CLOSED = 02000000;

  private static final int TO_BE_CLOSED = 1;
  private static final int SET_FLAGS = 2;
  private static final int HUNG_UP = 0x10;

  /** Of struct pollfd. */
  private static final int POLL_BYTES = 8;

  private static final int POLL_RESULT = 6;

  private final Function fcntl;
  private final Function poll;
  private final List<Integer> marked = new ArrayList<>();

  RelaunchDescriptors(NativeLibrary process) {
    this.fcntl = process.getFunction("fcntl");
    this.poll = process.getFunction("poll");
  }

  /** Marks those that are to be closed, which {@link #close} takes back. */
  void prepare(Caller caller) throws Refused, IOException {
    int inherited = lastOfSystemd();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(DESCRIPTORS)) {
      for (Path entry : entries) {
        int descriptor = Integer.parseInt(entry.getFileName().toString());
        if (descriptor > inherited) {
          prepare(caller, descriptor, entry);
        }
      }
    }
  }

  private void prepare(Caller caller, int descriptor, Path entry) throws Refused, IOException {
    try {
      String target = Files.readSymbolicLink(entry).toString();
      boolean closes = isToBeClosed(descriptor);
      if (target.startsWith("socket:") && !isHungUp(descriptor)) {
        // Before the program's first line whatever is not marked was inherited.
        if (closes || caller == Caller.APPLICATION) {
          throw new Refused("a socket is open, descriptor " + descriptor);
        }
      } else if (!closes && (target.startsWith("socket:") || isOfJvm(target))) {
        fcntl.invokeInt(new Object[] {descriptor, SET_FLAGS, TO_BE_CLOSED});
        marked.add(descriptor);
      }
    } catch (NoSuchFileException e) {
      // Closed meanwhile, such as the one that lists them.
      return;
    }
  }

  /** Those that systemd gives follow standard errors. */
  private static int lastOfSystemd() {
    String given = System.getenv().getOrDefault("LISTEN_FDS", "");
    boolean ours = Long.toString(ProcessHandle.current().pid()).equals(System.getenv("LISTEN_PID"));
    return STANDARD_ERROR + (ours && given.matches("\\d{1,4}") ? Integer.parseInt(given) : 0);
  }

  private static boolean isToBeClosed(int descriptor) throws IOException {
    Path file = Path.of("/proc/self/fdinfo", Integer.toString(descriptor));
    for (String line : Files.readAllLines(file, Relaunch.BYTES)) {
      if (line.startsWith("flags:")) {
        int flags = Integer.parseInt(line.substring(line.indexOf(':') + 1).strip(), 8);
        return (flags & OPENED_TO_BE_CLOSED) != 0;
      }
    }
    return false;
  }

  /** Nobody is at the other end, as of a socket that the JDK keeps to put it in others' places. */
  private boolean isHungUp(int descriptor) {
    ByteBuffer asked = Structs.allocate(POLL_BYTES).putInt(0, descriptor);
    poll.invokeInt(new Object[] {Structs.address(asked), 1L, 0});
    return (asked.getShort(POLL_RESULT) & HUNG_UP) != 0;
  }

  private static boolean isOfJvm(String target) {
    return target.endsWith(".jar")
        || target.endsWith(".war")
        || target.endsWith(".jsa")
        || target.endsWith(".jmod")
        || target.endsWith("/lib/modules")
        || target.contains("/hsperfdata_")
        || target.equals("/dev/random")
        || target.equals("/dev/urandom");
  }

  @Override
  public void close() {
    for (int descriptor : marked) {
      fcntl.invokeInt(new Object[] {descriptor, SET_FLAGS, 0});
    }
  }
}
