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
 * <p>A preloaded library is found by the names of its functions, even if its file was deleted. A
 * library that was opened for an attach is found only by its path, which class loaders share in a
 * system property. Such a library is opened with RTLD_LOCAL, which hides its functions. Otherwise
 * other libraries would call its malloc before the attach.
 */
public final class LibraryHandle {

  public static final String VERSION_FUNCTION = "mallometer_abi_version";

  public static final int VERSION = Abi.ABI_VERSION;

  /** The kernel's suffix for the path of a file that was deleted or replaced. */
  public static final String DELETED = " (deleted)";

  public static final String LIBRARY_FILE = "libmallometer";

  private static final String PROPERTY = "mallometer.library";

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
    // Loads JNA here, so that the catch block below gets errors of the library only.
    NativeLibrary.getProcess();
    try {
      NativeLibrary.getInstance(library.toString(), openOptions());
      opened = library.toString();
      return Optional.empty();
    } catch (UnsatisfiedLinkError e) {
      // JNA's message has the loader's error in its second line.
      String[] lines = String.valueOf(e.getMessage()).split("\n");
      return Optional.of(lines[Math.min(1, lines.length - 1)]);
    }
  }

  /**
   * Returns RTLD_NOW (2) with RTLD_LOCAL (4 on macOS, otherwise 0). With JNA's default options,
   * other libraries would find and use the library's functions.
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
   * Returns the path from which the library was mapped; empty if it is not mapped.
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
   * Returns the last line of {@code /proc/self/maps} that names the library's file; empty if there
   * is none.
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
