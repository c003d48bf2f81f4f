package io.mallometer.internal.symbol;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import org.jspecify.annotations.Nullable;

/**
 * Distinguishes classes of libraries from classes of the application, by the place of their class
 * files. A class belongs to the application if its file is in a directory, in the jar with the main
 * class, or outside of any class path (a script's class), or if its package has the first two names
 * of the main class's package. Classes of the JDK, and those in other jars of the class path, in
 * {@code BOOT-INF/lib} or in {@code WEB-INF/lib} belong to libraries.
 *
 * <p>Loads no class. Thread-safe.
 */
final class LibraryClasses implements Predicate<String> {

  /**
   * The largest number of classes that are remembered; other classes count as the application's.
   */
  private static final int MOST_CLASSES = 20_000;

  private static final List<String> OF_APPLICATION = List.of("BOOT-INF/classes", "WEB-INF/classes");
  private static final List<String> OF_LIBRARIES = List.of("BOOT-INF/lib/", "WEB-INF/lib/");

  /** The rule for the classes of this process. */
  static final LibraryClasses OF_THIS_PROCESS =
      new LibraryClasses(
          System.getProperty("sun.java.command", ""),
          ClassLoader.getSystemClassLoader()::getResource,
          LibraryClasses::resourceOfOthers);

  private final String mainClass;
  private final String mainJar;
  private final Function<String, @Nullable URL> classPath;
  private final Function<String, @Nullable URL> others;
  private final Map<String, Boolean> known = new ConcurrentHashMap<>();

  /**
   * Creates a rule.
   *
   * @param command the main class or jar, and arguments
   * @param classPath returns the place of a class file in the class path; null if it is not there
   * @param others returns the place of a class file in the class loaders of the application's
   *     threads; null if it is not there
   */
  LibraryClasses(
      String command,
      Function<String, @Nullable URL> classPath,
      Function<String, @Nullable URL> others) {
    String first = command.split(" ", 2)[0];
    boolean isJar = first.endsWith(".jar");
    this.mainClass = isJar ? mainClass(first) : first.substring(first.indexOf('/') + 1);
    this.classPath = classPath;
    this.others = others;
    URL place = isJar ? null : classPath.apply(file(mainClass));
    this.mainJar = isJar ? first : place == null ? "" : jar(place.toString());
  }

  private static String mainClass(String jar) {
    try (JarFile file = new JarFile(jar)) {
      Attributes attributes = file.getManifest().getMainAttributes();
      String start = attributes.getValue("Start-Class");
      String main = start == null ? attributes.getValue(Attributes.Name.MAIN_CLASS) : start;
      return main == null ? "" : main;
    } catch (IOException | RuntimeException e) {
      return "";
    }
  }

  /** Returns whether a class belongs to a library. */
  @Override
  public boolean test(String className) {
    int nested = className.indexOf('$');
    String outer = nested > 0 ? className.substring(0, nested) : className;
    Boolean before = known.get(outer);
    if (before != null) {
      return before;
    }
    if (known.size() >= MOST_CLASSES) {
      return false;
    }
    boolean library = isLibrary(outer);
    known.put(outer, library);
    return library;
  }

  private boolean isLibrary(String className) {
    String own = twoNames(mainClass);
    if (!own.isEmpty() && className.startsWith(own)) {
      return false;
    }
    try {
      URL place = classPath.apply(file(className));
      if (place != null) {
        return isLibrary(place.toString(), true);
      }
      URL other = others.apply(file(className));
      return other != null && isLibrary(other.toString(), false);
    } catch (RuntimeException | LinkageError e) {
      return false; // A class loader of the application has failed.
    }
  }

  private boolean isLibrary(String place, boolean ofClassPath) {
    if (place.startsWith("jrt:")) {
      return true;
    }
    if (OF_APPLICATION.stream().anyMatch(place::contains)) {
      return false;
    }
    if (OF_LIBRARIES.stream().anyMatch(place::contains)) {
      return true;
    }
    return ofClassPath && place.startsWith("jar:") && !jar(place).endsWith(mainJar);
  }

  private static String file(String className) {
    return className.replace('.', '/') + ".class";
  }

  /** Returns the path of the jar in a URL of a class file; a dash if the file is not in a jar. */
  private static String jar(String place) {
    int end = place.indexOf('!');
    return place.startsWith("jar:") && end > 0 ? place.substring("jar:file:".length(), end) : "-";
  }

  /** Returns {@code com.acme.} for {@code com.acme.shop.Main}; empty for a shorter name. */
  private static String twoNames(String className) {
    int first = className.indexOf('.');
    int second = first < 0 ? -1 : className.indexOf('.', first + 1);
    return second < 0 ? "" : className.substring(0, second + 1);
  }

  /** Returns the URL of a class file by the class loaders that threads of the application use. */
  private static @Nullable URL resourceOfOthers(String file) {
    for (ClassLoader loader : loadersOfThreads()) {
      URL place = loader.getResource(file);
      if (place != null) {
        return place;
      }
    }
    return null;
  }

  private static List<ClassLoader> loadersOfThreads() {
    Set<ClassLoader> loaders = new LinkedHashSet<>();
    ClassLoader own = LibraryClasses.class.getClassLoader();
    if (own != null) {
      loaders.add(own);
    }
    ThreadGroup root = Thread.currentThread().getThreadGroup();
    while (root.getParent() != null) {
      root = root.getParent();
    }
    Thread[] threads = new Thread[root.activeCount() + 10];
    int count = root.enumerate(threads);
    for (int i = 0; i < count; i++) {
      if (threads[i].getContextClassLoader() instanceof URLClassLoader loader) {
        loaders.add(loader);
      }
    }
    return new ArrayList<>(loaders);
  }
}
