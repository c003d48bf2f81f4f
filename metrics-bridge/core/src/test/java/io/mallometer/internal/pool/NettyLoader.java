package io.mallometer.internal.pool;

import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** A class loader with one copy of Netty. The loader records the classes that it has defined. */
final class NettyLoader extends URLClassLoader {

  /**
   * The directory with the jars that the build copies, with one subdirectory for each version of
   * Netty.
   */
  private static final Path VERSIONS = Path.of("target", "netty");

  private final Set<String> defined = ConcurrentHashMap.newKeySet();

  private NettyLoader(List<Path> places) {
    super(
        places.stream().map(NettyLoader::url).toArray(URL[]::new),
        ClassLoader.getPlatformClassLoader());
  }

  /**
   * Returns a loader of a version of Netty. An empty text stands for the version in the class path.
   */
  static NettyLoader of(String version) throws IOException {
    List<Path> places = new ArrayList<>();
    for (String place : System.getProperty("java.class.path").split(File.pathSeparator)) {
      boolean isNetty = Path.of(place).getFileName().toString().startsWith("netty-");
      if (place.endsWith("test-classes") || version.isEmpty() && isNetty) {
        places.add(Path.of(place));
      }
    }
    if (!version.isEmpty()) {
      try (Stream<Path> jars = Files.list(VERSIONS.resolve(version))) {
        jars.forEach(places::add);
      }
    }
    return new NettyLoader(places);
  }

  static NettyLoader ofDirectory(Path classes) {
    return new NettyLoader(List.of(classes));
  }

  private static URL url(Path place) {
    try {
      return place.toUri().toURL();
    } catch (MalformedURLException e) {
      throw new IllegalArgumentException(e);
    }
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    Class<?> found = super.findClass(name);
    defined.add(name);
    return found;
  }

  Set<String> defined() {
    return Set.copyOf(defined);
  }

  List<Class<?>> loaded(List<String> endings) {
    return defined.stream()
        .filter(name -> endings.stream().anyMatch(name::endsWith))
        .map(name -> Optional.<Class<?>>ofNullable(findLoadedClass(name)).orElseThrow())
        .<Class<?>>map(type -> type)
        .toList();
  }

  Use use(String packageName, String kind) throws ReflectiveOperationException {
    Object program =
        loadClass(NettyUse.class.getName())
            .getConstructor(String.class, String.class)
            .newInstance(packageName, kind);
    return new Use(program);
  }

  /**
   * Calls the program by reflection, because this loader defines its own copy of the class {@link
   * NettyUse}.
   */
  record Use(Object program) {

    Use level(String name) throws ReflectiveOperationException {
      program.getClass().getMethod("level", String.class).invoke(program, name);
      return this;
    }

    void keep(int count, int bytes) throws ReflectiveOperationException {
      program.getClass().getMethod("keep", int.class, int.class).invoke(program, count, bytes);
    }

    void keepOnHeap(int count, int bytes) throws ReflectiveOperationException {
      program
          .getClass()
          .getMethod("keepOnHeap", int.class, int.class)
          .invoke(program, count, bytes);
    }

    void release(int count) throws ReflectiveOperationException {
      program.getClass().getMethod("release", int.class).invoke(program, count);
    }

    void forget() throws ReflectiveOperationException {
      program.getClass().getMethod("forget").invoke(program);
    }

    long[] chunksAndUse() throws ReflectiveOperationException {
      return (long[]) program.getClass().getMethod("chunksAndUse").invoke(program);
    }

    long pinnedDirectMemory() throws ReflectiveOperationException {
      return (long) program.getClass().getMethod("pinnedDirectMemory").invoke(program);
    }

    long usedDirectMemory() throws ReflectiveOperationException {
      return (long) program.getClass().getMethod("usedDirectMemory").invoke(program);
    }
  }
}
