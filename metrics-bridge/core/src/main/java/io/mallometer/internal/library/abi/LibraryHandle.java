package io.mallometer.internal.library.abi;

import com.sun.jna.Library;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Platform;
import io.mallometer.internal.library.ProcFiles;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Finds or opens the library. A process has at most one.
 *
 * <p>A preloaded library is found like any function of the process, even if its file was deleted. A
 * library that was opened for an attach is found by its path only, because its functions must not
 * serve the process before it is attached. The attaching code leaves the path in a system property
 * for other class loaders of this JVM.
 */
public final class LibraryHandle {

  public static final String VERSION_FUNCTION = "mallometer_abi_version";

  /** The version of the library's interface that this Java code was built for. */
  public static final int VERSION = Abi.ABI_VERSION;

  /** The kernel's suffix for the path of a file that was deleted or replaced. */
  public static final String DELETED = " (deleted)";

  public static final String LIBRARY_FILE = "libmallometer";

  /** The system property with the path of the library that was attached in this JVM. */
  private static final String PROPERTY = "mallometer.library";

  /** The path of the library that this class loader has opened; null if it has opened none. */
  private static volatile @Nullable String opened;

  private LibraryHandle() {}

  /**
   * Returns the library that is in this process.
   *
   * @throws LinkageError if there is none, or JNA cannot be used
   */
  static NativeLibrary inThisProcess() {
    NativeLibrary process = NativeLibrary.getProcess();
    try {
      process.getFunction(VERSION_FUNCTION);
      return process;
    } catch (UnsatisfiedLinkError e) {
      @Nullable String path = path().orElse(null);
      if (path == null) {
        throw e;
      }
      return NativeLibrary.getInstance(path, openOptions());
    }
  }

  /**
   * Returns the version of the interface of the library that is in this process.
   *
   * @throws LinkageError if there is none, or JNA cannot be used
   */
  public static int version() {
    return inThisProcess().getFunction(VERSION_FUNCTION).invokeInt(new Object[0]);
  }

  /**
   * Opens the library. Nothing is counted until the library is attached.
   *
   * @return the dynamic loader's error; empty if the library is open
   */
  public static Optional<String> open(Path library) {
    // Loads JNA outside of the try block, because the block reports failures of the library only.
    NativeLibrary.getProcess();
    try {
      NativeLibrary.getInstance(library.toString(), openOptions());
      opened = library.toString();
      return Optional.empty();
    } catch (UnsatisfiedLinkError e) {
      // The second line of JNA's message is the loader's error. The first line names the attempt.
      String[] lines = String.valueOf(e.getMessage()).split("\n");
      return Optional.of(lines[Math.min(1, lines.length - 1)]);
    }
  }

  /**
   * Returns the options RTLD_NOW and RTLD_LOCAL, of which the latter is 0 except on macOS. With
   * JNA's default options, other libraries would find and use the library's functions.
   */
  private static Map<String, Object> openOptions() {
    return Map.of(Library.OPTION_OPEN_FLAGS, Platform.isMac() ? 6 : 2);
  }

  /**
   * Publishes the path of the library for other class loaders, if this one has opened the library.
   */
  public static void tellOthers() {
    @Nullable String path = opened;
    if (path != null) {
      System.setProperty(PROPERTY, path);
    }
  }

  /** Returns whether the library was attached in this JVM, by this class loader or another. */
  public static boolean attached() {
    return property() != null;
  }

  /**
   * Returns the path of the library that was attached in this JVM. Returns null if there is none,
   * or if a security manager forbids reading the property.
   */
  private static @Nullable String property() {
    try {
      return System.getProperty(PROPERTY);
    } catch (SecurityException e) {
      return null;
    }
  }

  private static Optional<String> path() {
    @Nullable String own = opened;
    return Optional.ofNullable(own == null ? property() : own)
        .or(() -> ProcFiles.mappedFiles().flatMap(LibraryHandle::mappedLibrary));
  }

  /**
   * Returns the path at which the library was opened; empty if the mappings lack it.
   *
   * @param maps the text of {@code /proc/self/maps}
   */
  public static Optional<String> mappedLibrary(String maps) {
    String line = lineOfLibrary(maps);
    return line.isEmpty()
        ? Optional.empty()
        : Optional.of(line.substring(line.indexOf('/')).replace(DELETED, ""));
  }

  /**
   * Returns the last line of {@code /proc/self/maps} whose file has the library's name; empty if
   * there is none.
   */
  public static String lineOfLibrary(String maps) {
    String start = "/" + LIBRARY_FILE;
    for (int at = maps.lastIndexOf(start); at >= 0; at = maps.lastIndexOf(start, at - 1)) {
      int newline = maps.indexOf('\n', at);
      int end = newline < 0 ? maps.length() : newline;
      String rest = maps.substring(at + start.length(), end);
      if (rest.contains(".so") && rest.indexOf('/') < 0) {
        return maps.substring(maps.lastIndexOf('\n', at) + 1, end);
      }
    }
    return "";
  }
}
