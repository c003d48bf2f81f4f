package io.mallometer.internal.interposer;

import com.sun.jna.NativeLibrary;
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
 * Whether the library can be read in this process, and if not, why and what to do.
 *
 * <p>JNA is touched only when the library seems to be there: loading JNA makes newer JDKs print a
 * warning, and a program without preload must look as if mallometer were not there. What is mapped
 * into the process decides; {@code LD_PRELOAD} only stands in for it when {@code /proc} is hidden,
 * because a launcher may clear the variable, and the loader may ignore what it names.
 *
 * <p>JNA's first use can end in three kinds of {@link LinkageError}, and in an {@code
 * IllegalCallerException} where native access is denied. All end here, as a reason.
 */
final class Availability {

  /** What the kernel adds to the path of a file that was deleted or replaced. */
  private static final String DELETED = " (deleted)";

  private static final String LIBRARY_FILE = "libmallometer";
  private static final List<String> OTHER_ALLOCATORS =
      List.of("/libjemalloc", "/libtcmalloc", "/libmimalloc");

  /** The kill switch of everything. The library reads it too. */
  private static final String ENABLED_VARIABLE = "MALLOMETER_ENABLED";

  private static final List<String> OFF = List.of("false", "0", "no", "off");

  private static final String JNA = "com.sun.jna.";

  /** Set by GraalVM. */
  private static final String IMAGE_CODE = "org.graalvm.nativeimage.imagecode";

  private Availability() {}

  /** The library if it is in this process. */
  static Interposer ofThisProcess() {
    return ofThisProcess(false);
  }

  /** The library, which is unpacked and opened for that unless it is in this process. */
  static Interposer loaded() {
    return ofThisProcess(true);
  }

  private static Interposer ofThisProcess(boolean opens) {
    try {
      return of(System.getProperty(IMAGE_CODE), System.getenv(ENABLED_VARIABLE), opens);
    } catch (SecurityException e) {
      return new AbsentInterposer(forbidden(e));
    }
  }

  /**
   * The library in this process.
   *
   * @param imageCode {@code "runtime"} in a native image, where JNA finds no class of its own by
   *     reflection
   * @param enabled the value of {@code MALLOMETER_ENABLED}. If it is off, no native code is loaded:
   *     whoever sets it may have trouble with just that
   */
  static Interposer of(@Nullable String imageCode, @Nullable String enabled) {
    return of(imageCode, enabled, false);
  }

  /**
   * The same.
   *
   * @param opens whether a library that is not there is to be unpacked and opened
   */
  private static Interposer of(
      @Nullable String imageCode, @Nullable String enabled, boolean opens) {
    if (enabled != null && isOff(enabled)) {
      String setting = ENABLED_VARIABLE + "=" + enabled;
      return new AbsentInterposer(new Status(State.DISABLED, setting, Remedy.enable(setting)));
    }
    if ("runtime".equals(imageCode)) {
      return new AbsentInterposer(
          unavailable("a native image cannot read the library", Remedy.jvm()));
    }
    try {
      if (Experimental.isMacos() && !Experimental.onMacos()) {
        return new AbsentInterposer(notLoaded("", false), SelfReport.UNKNOWN);
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
        return new AbsentInterposer(notLoaded(preload, maps.isPresent()), allocator(maps));
      }
      Optional<String> objection = AttachVariable.objection();
      return objection.isPresent()
          ? new AbsentInterposer(attachForbidden(objection.get()), allocator(maps))
          : link(Optional.of(BundledLibrary.extract()));
    } catch (IOException e) {
      return new AbsentInterposer(unavailable("not attached: " + e.getMessage(), Remedy.place()));
    } catch (RuntimeException | LinkageError e) {
      return new AbsentInterposer(unavailable("the library cannot be read: " + e, ""));
    }
  }

  private static boolean isOff(String value) {
    return OFF.contains(value.toLowerCase(Locale.ROOT));
  }

  /** The kill switch that is set, of everything or of attaching alone, as it was written. */
  static Optional<String> switchedOff() {
    @Nullable String enabled = System.getenv(ENABLED_VARIABLE);
    return enabled != null && isOff(enabled)
        ? Optional.of(ENABLED_VARIABLE + "=" + enabled)
        : AttachVariable.objection();
  }

  /** The status where an operator does not want to attach. */
  static Status attachForbidden(String objection) {
    return unavailable("not attached: " + objection, Remedy.enable(AttachVariable.setting()));
  }

  /**
   * The library is in the process, but does not count: it was opened and not attached, or
   * LD_PRELOAD names another allocator first.
   *
   * @param explanation what the library says about it; may be empty
   */
  static Status loadedButNotCounting(String explanation) {
    boolean tellsAll = explanation.startsWith("not attached") || explanation.startsWith("detached");
    String reason = "the library is loaded but not preloaded";
    return unavailable(
        explanation.isEmpty() ? reason : tellsAll ? explanation : reason + ": " + explanation,
        explanation.startsWith("detached") ? Remedy.attach() : Remedy.preload());
  }

  /**
   * Whether it is worth asking the dynamic linker.
   *
   * @param maps the text of {@code /proc/self/maps}; empty if it cannot be read
   * @param preload the value of {@code LD_PRELOAD}
   */
  static boolean seemsLoaded(Optional<String> maps, String preload) {
    return maps.isPresent() ? mapsLibrary(maps.get()) : namesLibrary(preload);
  }

  /**
   * Whether a line ends in the library, which may have been deleted since. Every program starts
   * with this, and it would be the only one of its regular expressions.
   */
  private static boolean mapsLibrary(String maps) {
    return mappedLibrary(maps).isPresent();
  }

  /** The path of the library that is mapped, as it was called when it was opened. */
  static Optional<String> mappedLibrary(String maps) {
    String line = lineOfLibrary(maps);
    return line.isEmpty()
        ? Optional.empty()
        : Optional.of(line.substring(line.indexOf('/')).replace(DELETED, ""));
  }

  /** The last line that ends in the library; empty if there is none. Most lie before it. */
  private static String lineOfLibrary(String maps) {
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

  /**
   * What serves the allocations of a process without the library: {@code "musl"} where musl is the
   * C library and no other allocator is mapped, else unknown.
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
    return preload.contains(LIBRARY_FILE);
  }

  /**
   * Links to the library.
   *
   * @param unpacked where it is, if it has to be opened first
   */
  private static Interposer link(Optional<Path> unpacked) {
    try {
      Optional<String> obstacle = JnaDirectory.obstacle();
      if (obstacle.isPresent()) {
        return AbsentInterposer.unreadable(jnaCannotLoad(obstacle.get()));
      }
      if (unpacked.isPresent()) {
        NativeLibrary.getProcess(); // what is wrong with JNA is not wrong with the library
        Optional<String> trouble = LibraryHandle.open(unpacked.get());
        if (trouble.isPresent()) {
          return AbsentInterposer.unreadable(
              unavailable("not attached: the library cannot be opened: " + trouble.get(), ""));
        }
        DirectCalls.linkCalls(unpacked.get());
      }
      int version =
          LibraryHandle.inThisProcess()
              .getFunction(LibraryHandle.VERSION_FUNCTION)
              .invokeInt(new Object[0]);
      return versioned(version);
    } catch (RuntimeException | LinkageError e) {
      return AbsentInterposer.unreadable(unreachable(e));
    }
  }

  private static Interposer versioned(int version) {
    return version == Abi.ABI_VERSION
        ? LoadedInterposer.open()
        : AbsentInterposer.unreadable(otherVersion(version));
  }

  /** The path of the library that is mapped, if its file is still there. */
  private static Optional<String> presentLibrary(Optional<String> maps) {
    String line = maps.isPresent() ? lineOfLibrary(maps.get()) : "";
    return line.isEmpty() || line.endsWith(DELETED)
        ? Optional.empty()
        : Optional.of(line.substring(line.indexOf('/')));
  }

  /**
   * Nothing is there.
   *
   * @param hasMaps whether {@code /proc} can be read, without which nothing can be attached
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

  /** musl's dynamic linker opens no library late that has thread-local variables of this kind. */
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
        + " names the library, but the dynamic linker did not load it:"
        + " it is built for another platform or C library, or is in a file system that is mounted"
        + " noexec";
  }

  private static Status otherVersion(int version) {
    return unavailable(
        "the preloaded library has interface version "
            + Integer.toHexString(version)
            + ", but this bridge needs version "
            + Integer.toHexString(Abi.ABI_VERSION),
        Remedy.preload());
  }

  private static Status forbidden(Throwable failure) {
    return unavailable("a security manager forbids it: " + failure.getMessage(), Remedy.permit());
  }

  /** Why JNA could not be used, or the function not be found through it. */
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

  /** What a class says that failed to initialize has no message. */
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
