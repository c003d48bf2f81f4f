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
 * Decides by the place of a class file whether a class belongs to a library.
 *
 * <p>Libraries are the JDK, the jars in {@code BOOT-INF/lib} and {@code WEB-INF/lib}, and the jars
 * of the class path other than the one with the main class. All other classes belong to the
 * application. A class also belongs to the application if its package begins with the first two
 * names of the main class's package.
 *
 * <p>Loads no class. Thread-safe.
 */
final class LibraryClasses implements Predicate<String> {

  /**
   * The largest number of classes that are remembered. Further classes count as the application's.
   */
  private static final int MOST_CLASSES = 20_000;

  private static final List<String> OF_APPLICATION = List.of("BOOT-INF/classes", "WEB-INF/classes");
  private static final List<String> OF_LIBRARIES = List.of("BOOT-INF/lib/", "WEB-INF/lib/");

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
   * Creates a predicate that tells whether a class belongs to a library.
   *
   * @param command the main class or jar, and its arguments
   * @param classPath finds the URL of a class file on the class path
   * @param others finds the URL of any other class file
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
