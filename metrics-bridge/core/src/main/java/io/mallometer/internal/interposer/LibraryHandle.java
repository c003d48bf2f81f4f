package io.mallometer.internal.interposer;

import com.sun.jna.Library;
import com.sun.jna.NativeLibrary;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The library as the dynamic loader has it, in a process that has one at most.
 *
 * <p>A preloaded one is found like any function of the process: the file that it came from may be
 * deleted. One that was opened to be attached is found by its path only, since its functions must
 * not be taken for those of the process before it says so. Whoever attaches it leaves the path in a
 * system property, for the other class loaders of this JVM.
 */
final class LibraryHandle {

  static final String VERSION_FUNCTION = "mallometer_abi_version";

  /** The path of the library that was attached in this JVM. */
  private static final String PROPERTY = "mallometer.library";

  /**
   * RTLD_NOW and RTLD_LOCAL, which is 0 but on macOS: JNA would let other libraries find our
   * functions.
   */
  private static final Map<String, Object> OPENED =
      Map.of(Library.OPTION_OPEN_FLAGS, Experimental.isMacos() ? 6 : 2);

  /** The path of the library that this class loader has opened; there is one in a process. */
  private static volatile @Nullable String opened;

  private LibraryHandle() {}

  /**
   * The library that is in this process.
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
      return NativeLibrary.getInstance(path, OPENED);
    }
  }

  /**
   * Opens the library, which changes nothing yet.
   *
   * @return what the dynamic loader has against it; empty if it is open
   */
  static Optional<String> open(Path library) {
    try {
      NativeLibrary.getInstance(library.toString(), OPENED);
      opened = library.toString();
      return Optional.empty();
    } catch (UnsatisfiedLinkError e) {
      // JNA says what it did in the first line, and in the last where else it looked.
      String[] lines = String.valueOf(e.getMessage()).split("\n");
      return Optional.of(lines[Math.min(1, lines.length - 1)]);
    }
  }

  /** Leaves the path for other class loaders, if this one has opened the library. */
  static void tellOthers() {
    @Nullable String path = opened;
    if (path != null) {
      System.setProperty(PROPERTY, path);
    }
  }

  /** Whether the library was attached in this JVM, by this class loader or another. */
  static boolean attached() {
    return property() != null;
  }

  /** None where a security manager forbids to read it: the status says so. */
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
        .or(() -> ProcFiles.mappedFiles().flatMap(Availability::mappedLibrary));
  }
}
