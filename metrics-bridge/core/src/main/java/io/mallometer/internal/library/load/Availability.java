package io.mallometer.internal.library.load;

import io.mallometer.internal.library.AbsentLibrary;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.library.ProcFiles;
import io.mallometer.internal.library.abi.DirectCalls;
import io.mallometer.internal.library.abi.LibraryHandle;
import io.mallometer.internal.library.abi.LoadedLibrary;
import io.mallometer.model.SelfReport;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the library in this process, or else the reason why it cannot be read, and the remedy.
 *
 * <p>JNA is loaded only if the mappings of the process show the library, because JNA makes newer
 * JDKs print a warning. If {@code /proc} is hidden, {@code LD_PRELOAD} decides. The variable is
 * less certain: a launcher may clear it, and the loader may ignore it.
 *
 * <p>JNA's first use can end in three kinds of {@link LinkageError}, and in an {@code
 * IllegalCallerException} if native access is denied. Each becomes a reason.
 */
final class Availability {

  private static final List<String> OTHER_ALLOCATORS =
      List.of("/libjemalloc", "/libtcmalloc", "/libmimalloc");

  /**
   * The environment variable that switches mallometer off if its value is one of {@link #OFF}. The
   * library reads this variable too.
   */
  private static final String ENABLED_VARIABLE = "MALLOMETER_ENABLED";

  private static final List<String> OFF = List.of("false", "0", "no", "off");

  private static final String JNA = "com.sun.jna.";

  /** GraalVM sets this property in a native image. */
  private static final String IMAGE_CODE = "org.graalvm.nativeimage.imagecode";

  private Availability() {}

  static NativeLibrary ofThisProcess() {
    return ofThisProcess(false);
  }

  /** Returns the library; unpacks and opens it if it is not in this process. */
  static NativeLibrary loaded() {
    return ofThisProcess(true);
  }

  private static NativeLibrary ofThisProcess(boolean opens) {
    try {
      return of(System.getProperty(IMAGE_CODE), System.getenv(ENABLED_VARIABLE), opens);
    } catch (SecurityException e) {
      return new AbsentLibrary(forbidden(e));
    }
  }

  /**
   * Returns the library in this process.
   *
   * @param imageCode {@code "runtime"} in a native image, where JNA cannot find its own classes
   * @param enabled the value of {@code MALLOMETER_ENABLED}; if it is off, no native code is loaded,
   *     because that code may be why the user switched mallometer off
   * @param opens whether to unpack and open an absent library
   */
  static NativeLibrary of(@Nullable String imageCode, @Nullable String enabled, boolean opens) {
    if (enabled != null && isOff(enabled)) {
      String setting = ENABLED_VARIABLE + "=" + enabled;
      return new AbsentLibrary(new Status(State.DISABLED, setting, Remedy.enable(setting)));
    }
    if ("runtime".equals(imageCode)) {
      return new AbsentLibrary(unavailable("a native image cannot read the library", Remedy.jvm()));
    }
    try {
      if (Experimental.isMacos() && !Experimental.onMacos()) {
        return new AbsentLibrary(notLoaded("", false), SelfReport.UNKNOWN);
      }
      Optional<String> maps = ProcFiles.mappedFiles();
      String preload = preloadVariable();
      if (seemsLoaded(maps, preload) || LibraryHandle.attached()) {
        return DirectCalls.link(presentLibrary(maps))
            ? versioned(DirectCalls.version())
            : link(Optional.empty());
      }
      Platform platform = Platform.current();
      if (!opens || platform.musl() || !BundledLibrary.existsFor(platform)) {
        return new AbsentLibrary(notLoaded(preload, maps.isPresent()), allocator(maps));
      }
      Optional<String> objection = AttachVariable.objection();
      return objection.isPresent()
          ? new AbsentLibrary(attachForbidden(objection.get()), allocator(maps))
          : link(Optional.of(BundledLibrary.extract()));
    } catch (IOException e) {
      return new AbsentLibrary(unavailable("not attached: " + e.getMessage(), Remedy.place()));
    } catch (RuntimeException | LinkageError e) {
      return new AbsentLibrary(unavailable("the library cannot be read: " + e, ""));
    }
  }

  private static boolean isOff(String value) {
    return OFF.contains(value.toLowerCase(Locale.ROOT));
  }

  static Optional<String> switchedOff() {
    @Nullable String enabled = System.getenv(ENABLED_VARIABLE);
    return enabled != null && isOff(enabled)
        ? Optional.of(ENABLED_VARIABLE + "=" + enabled)
        : AttachVariable.objection();
  }

  static Status attachForbidden(String objection) {
    return unavailable("not attached: " + objection, Remedy.enable(AttachVariable.setting()));
  }

  /**
   * Returns the status of a library that is in the process and does not count, because it is not
   * attached, or {@code LD_PRELOAD} names another allocator first.
   *
   * @param explanation the library's own reason; may be empty
   */
  static Status loadedButNotCounting(String explanation) {
    boolean tellsAll = explanation.startsWith("not attached") || explanation.startsWith("detached");
    String reason = "the library is loaded but not preloaded";
    return unavailable(
        explanation.isEmpty() ? reason : tellsAll ? explanation : reason + ": " + explanation,
        explanation.startsWith("detached") ? Remedy.attach() : Remedy.preload());
  }

  /**
   * Returns whether the library seems to be loaded, by the mappings or, if they are hidden, by
   * {@code LD_PRELOAD}.
   *
   * @param maps the text of {@code /proc/self/maps}; empty if it cannot be read
   * @param preload the value of {@code LD_PRELOAD}
   */
  static boolean seemsLoaded(Optional<String> maps, String preload) {
    return maps.isPresent() ? mapsLibrary(maps.get()) : namesLibrary(preload);
  }

  /**
   * Returns whether the library is mapped, even if its file was deleted. Does not use a regular
   * expression, because that would load the classes of {@code java.util.regex} at each start of the
   * JVM.
   */
  private static boolean mapsLibrary(String maps) {
    return LibraryHandle.mappedLibrary(maps).isPresent();
  }

  /**
   * Returns the allocator of a process without the library: {@code "musl"} if musl is mapped and no
   * other allocator is, otherwise unknown.
   *
   * @param maps the text of {@code /proc/self/maps}; empty if it cannot be read
   */
  static String allocator(Optional<String> maps) {
    String mapped = maps.orElse("");
    return mapped.contains("/ld-musl-") && !mapsOtherAllocator(mapped)
        ? "musl"
        : SelfReport.UNKNOWN;
  }

  private static boolean mapsOtherAllocator(String maps) {
    for (String allocator : OTHER_ALLOCATORS) {
      if (maps.contains(allocator)) {
        return true;
      }
    }
    return false;
  }

  private static boolean namesLibrary(String preload) {
    return preload.contains(LibraryHandle.LIBRARY_FILE);
  }

  private static NativeLibrary link(Optional<Path> unpacked) {
    try {
      Optional<String> obstacle = JnaDirectory.obstacle();
      if (obstacle.isPresent()) {
        return AbsentLibrary.unreadable(jnaCannotLoad(obstacle.get()));
      }
      if (unpacked.isPresent()) {
        Optional<String> trouble = LibraryHandle.open(unpacked.get());
        if (trouble.isPresent()) {
          return AbsentLibrary.unreadable(
              unavailable("not attached: the library cannot be opened: " + trouble.get(), ""));
        }
        DirectCalls.linkCalls(unpacked.get());
      }
      return versioned(LibraryHandle.version());
    } catch (RuntimeException | LinkageError e) {
      return AbsentLibrary.unreadable(unreachable(e));
    }
  }

  private static NativeLibrary versioned(int version) {
    return version == LibraryHandle.VERSION
        ? LoadedLibrary.open(Availability::loadedButNotCounting)
        : AbsentLibrary.unreadable(otherVersion(version));
  }

  private static Optional<String> presentLibrary(Optional<String> maps) {
    String line = maps.isPresent() ? LibraryHandle.lineOfLibrary(maps.get()) : "";
    return line.isEmpty() || line.endsWith(LibraryHandle.DELETED)
        ? Optional.empty()
        : Optional.of(line.substring(line.indexOf('/')));
  }

  /**
   * Returns the status of this process, in which the library is not loaded.
   *
   * @param hasMaps whether {@code /proc} can be read; if not, the library cannot be attached
   */
  private static Status notLoaded(String preload, boolean hasMaps) {
    Platform platform = Platform.current();
    if (!BundledLibrary.existsFor(platform)) {
      return unavailable("there is no library for " + platform, Remedy.elsewhere(platform));
    }
    if (namesLibrary(preload)) {
      return unavailable(ignoredPreload(preload), Remedy.preload());
    }
    return notPreloaded(platform, hasMaps);
  }

  /**
   * Returns the status of a process that did not preload the library. On musl only preloading
   * works, because musl cannot load the library's thread-local variables later.
   */
  static Status notPreloaded(Platform platform, boolean hasMaps) {
    return platform.musl()
        ? unavailable(
            "the library is not preloaded, and musl does not open it in a running process",
            Remedy.preload())
        : unavailable("the library is not preloaded", hasMaps ? Remedy.attach() : Remedy.preload());
  }

  private static String ignoredPreload(String preload) {
    for (String entry : preload.split("[: ]+")) {
      if (namesLibrary(entry) && entry.contains("/") && !Files.exists(Path.of(entry))) {
        return BundledLibrary.preloadVariable() + " names " + entry + ", which does not exist";
      }
    }
    return BundledLibrary.preloadVariable()
        + " names the library, but the dynamic linker did not load it: it is built for another"
        + " platform or C library, or is in a file system that is mounted noexec";
  }

  private static Status otherVersion(int version) {
    return unavailable(
        "the preloaded library has interface version "
            + Integer.toHexString(version)
            + ", but this bridge needs version "
            + Integer.toHexString(LibraryHandle.VERSION),
        Remedy.preload());
  }

  private static Status forbidden(Throwable failure) {
    return unavailable("a security manager forbids it: " + failure.getMessage(), Remedy.permit());
  }

  /** Returns the status if JNA fails, or does not find a function of the library. */
  static Status unreachable(Throwable failure) {
    if (hasCause(failure, SecurityException.class)) {
      return forbidden(failure);
    }
    if (hasCause(failure, IllegalCallerException.class)) {
      return unavailable("native access is denied", Remedy.allowNativeAccess());
    }
    Optional<String> missing = missingClass(failure);
    if (missing.isPresent()) {
      return missing.get().startsWith(JNA)
          ? unavailable("JNA is not on the class path", Remedy.addJna())
          : unavailable(
              "JNA needs the class " + missing.get() + ", which this Java runtime lacks",
              Remedy.addModule());
    }
    String message = String.valueOf(failure.getMessage());
    if (failure instanceof UnsatisfiedLinkError
        && message.contains(LibraryHandle.VERSION_FUNCTION)) {
      return loadedButNotCounting("");
    }
    if (message.contains("mallometer_")) {
      return unavailable(
          "the preloaded library lacks a function that this bridge needs", Remedy.preload());
    }
    return jnaCannotLoad(reason(failure).toString());
  }

  /**
   * Returns the cause of a failed class initialization, which has no message of its own; for any
   * other failure, the failure itself.
   */
  private static Throwable reason(Throwable failure) {
    return failure instanceof ExceptionInInitializerError && failure.getCause() != null
        ? failure.getCause()
        : failure;
  }

  private static Status jnaCannotLoad(String why) {
    return unavailable("JNA cannot load its native part: " + why, Remedy.unpackJna());
  }

  private static Optional<String> missingClass(Throwable failure) {
    return causes(failure)
        .filter(ClassNotFoundException.class::isInstance)
        .findFirst()
        .map(Throwable::getMessage);
  }

  private static boolean hasCause(Throwable failure, Class<? extends Throwable> type) {
    return causes(failure).anyMatch(type::isInstance);
  }

  private static Stream<Throwable> causes(Throwable failure) {
    return Stream.iterate(failure, Objects::nonNull, Throwable::getCause);
  }

  private static String preloadVariable() {
    String value = System.getenv(Experimental.isMacos() ? "DYLD_INSERT_LIBRARIES" : "LD_PRELOAD");
    return value == null ? "" : value;
  }

  private static Status unavailable(String reason, String remedy) {
    return new Status(State.UNAVAILABLE, reason, remedy);
  }
}
