package io.mallometer.internal.library.load;

import io.mallometer.internal.library.ProcFiles;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/**
 * Unpacks the native library from the jar to a file that {@code LD_PRELOAD} can name.
 *
 * <p>Whoever can write that file runs code in the next JVM, so the default place is private: a
 * directory of mode 0700 that belongs to this user and is not a symbolic link. The path contains a
 * hash of the content, so a printed command stays valid. An existing file that differs is replaced
 * by an atomic rename, so two JVMs can unpack at the same time.
 */
public final class BundledLibrary {

  public static final String FILE_NAME =
      Experimental.isMacos() ? "libmallometer.dylib" : "libmallometer.so";

  private static final Set<PosixFilePermission> OWNER_ONLY =
      PosixFilePermissions.fromString("rwx------");
  private static final Set<PosixFilePermission> READABLE =
      PosixFilePermissions.fromString("rw-r--r--");
  private static final int HASH_DIGITS = 16;
  private static final int WRITABLE_BY_OTHERS = 0022;
  private static final int STICKY = 01000;

  private BundledLibrary() {}

  /**
   * Unpacks the library into the first of these directories that only this user can change and from
   * which a library can be mapped: {@code $XDG_CACHE_HOME/mallometer}, {@code ~/.cache/mallometer},
   * or {@code mallometer-<user>} in the directory for temporary files.
   *
   * @return the absolute path, which is the same for equal contents
   * @throws IOException if there is no library for this platform, or none of the directories is
   *     suitable; the message names each directory and its fault
   */
  public static Path extract() throws IOException {
    byte[] library = content(Platform.current());
    List<String> refusals = new ArrayList<>();
    for (Path base : CacheDirectories.candidates()) {
      try {
        return extractPrivately(library, base);
      } catch (IOException | RuntimeException e) {
        refusals.add(base + ": " + describe(e));
      }
    }
    throw new IOException(
        "no suitable directory for " + FILE_NAME + ": " + String.join("; ", refusals));
  }

  /**
   * Unpacks the library into a directory, such as a shared volume, and creates the directory if it
   * is missing. All users may read the file. An existing file is replaced atomically, without
   * effect on programs that use it.
   *
   * @return the absolute path of the file
   * @throws IOException if there is no library for this platform, or it cannot be written or mapped
   *     there
   */
  public static Path extract(Path directory) throws IOException {
    byte[] library = content(Platform.current());
    Path absolute = directory.toAbsolutePath().normalize();
    Files.createDirectories(absolute);
    return place(library, absolute);
  }

  /** Returns whether the jar has a library for a platform, and the library may be loaded there. */
  static boolean existsFor(Platform platform) {
    return Experimental.allows(platform.os())
        && BundledLibrary.class.getResource(resource(platform)) != null;
  }

  public static String preloadVariable() {
    return Platform.current().preloadVariable();
  }

  /**
   * Unpacks the library below a base directory, which it makes private first.
   *
   * @throws IOException if the directory cannot be made private, another user could replace it, or
   *     the library cannot be written or mapped there
   */
  static Path extractPrivately(byte[] library, Path base) throws IOException {
    Path ours = base.toAbsolutePath().normalize();
    Files.createDirectories(ours.getParent());
    refuseForeignParent(ours.getParent());
    makePrivate(ours);
    Path versioned = ours.resolve(hash(library));
    makePrivate(versioned);
    return place(library, versioned);
  }

  /**
   * Writes the file into a directory by an atomic rename, and verifies it. Refuses a directory from
   * which no library can be mapped.
   */
  private static Path place(byte[] library, Path directory) throws IOException {
    refuseUnusable(directory);
    Path file = directory.resolve(FILE_NAME);
    if (!holds(file, library)) {
      Path written = Files.createTempFile(directory, FILE_NAME, ".tmp");
      try {
        write(written, library);
        Files.setPosixFilePermissions(written, READABLE);
        Files.move(written, file, StandardCopyOption.ATOMIC_MOVE);
      } finally {
        Files.deleteIfExists(written);
      }
      if (!holds(file, library)) {
        throw new IOException("the file differs from the unpacked library");
      }
    }
    return file;
  }

  private static void refuseUnusable(Path directory) throws IOException {
    String name = directory.toString();
    if (name.indexOf(' ') >= 0 || name.indexOf(':') >= 0) {
      throw new IOException(preloadVariable() + " cannot name a path with a space or a colon");
    }
    if (Mounts.noexec(ProcFiles.mounts().orElse(""), directory.toRealPath())) {
      throw new IOException("mounted noexec");
    }
  }

  private static void makePrivate(Path directory) throws IOException {
    try {
      Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
    } catch (FileAlreadyExistsException e) {
      refuseUnlessDirectory(directory);
    }
    refuseForeignOwner(directory);
    Files.setPosixFilePermissions(directory, OWNER_ONLY);
  }

  private static void refuseUnlessDirectory(Path directory) throws IOException {
    BasicFileAttributes attributes =
        Files.readAttributes(directory, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    if (!attributes.isDirectory()) {
      throw new IOException(
          attributes.isSymbolicLink() ? directory + " is a symbolic link" : "not a directory");
    }
  }

  /**
   * Refuses a directory of another user. The owner's id is compared with the owner's id of a new
   * file, because a user may have no name.
   */
  private static void refuseForeignOwner(Path directory) throws IOException {
    Path probe = Files.createTempFile(directory, "owner", ".tmp");
    try {
      Object self = Files.getAttribute(probe, "unix:uid");
      Object owner = Files.getAttribute(directory, "unix:uid", LinkOption.NOFOLLOW_LINKS);
      if (!self.equals(owner)) {
        throw new IOException("belongs to user " + owner + ", not " + self);
      }
    } finally {
      Files.deleteIfExists(probe);
    }
  }

  /** Refuses a parent directory in which other users could replace the directory of this user. */
  private static void refuseForeignParent(Path parent) throws IOException {
    int mode = (int) Files.getAttribute(parent, "unix:mode");
    if ((mode & WRITABLE_BY_OTHERS) != 0 && (mode & STICKY) == 0) {
      throw new IOException(parent + " is writable by other users");
    }
  }

  private static void write(Path file, byte[] content) throws IOException {
    try (FileOutputStream out = new FileOutputStream(file.toFile())) {
      out.write(content);
      out.getFD().sync();
    }
  }

  private static boolean holds(Path file, byte[] content) throws IOException {
    return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
        && Files.size(file) == content.length
        && Arrays.equals(Files.readAllBytes(file), content);
  }

  private static byte[] content(Platform platform) throws IOException {
    if (!Experimental.allows(platform.os())) {
      throw new NoSuchFileException(
          "the library for "
              + platform
              + " is experimental, and is unpacked only with "
              + Experimental.VARIABLE
              + "="
              + platform.os());
    }
    try (InputStream library = BundledLibrary.class.getResourceAsStream(resource(platform))) {
      if (library == null) {
        throw new NoSuchFileException("there is no " + platform.libraryFile() + " for " + platform);
      }
      return library.readAllBytes();
    }
  }

  private static String resource(Platform platform) {
    return "/" + platform.directory() + "/" + platform.libraryFile();
  }

  private static String hash(byte[] content) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(content);
      return HexFormat.of().formatHex(digest).substring(0, HASH_DIGITS);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  private static String describe(Exception e) {
    if (e instanceof AccessDeniedException) {
      return "permission denied";
    }
    if (e instanceof FileSystemException file && file.getReason() != null) {
      return file.getReason();
    }
    return e.getClass() == IOException.class && e.getMessage() != null
        ? e.getMessage()
        : e.getClass().getSimpleName() + " " + e.getMessage();
  }
}
