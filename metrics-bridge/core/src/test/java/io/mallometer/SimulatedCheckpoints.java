package io.mallometer;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jdk.crac.Context;
import jdk.crac.Core;
import jdk.crac.Resource;

/** Provides CRaC's interface in a JVM without CRaC. */
public final class SimulatedCheckpoints {

  private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

  /** The name of a file that was closed before its name could be read. */
  private static final String CLOSED = "/proc/closed";

  private static final String OF_JVM = "/dev/.*|.*/lib/modules|.*\\.jar|pipe:.*|.*\\.so";

  /** Files that the JVM and the library's threads open only briefly. */
  private static final String OF_A_MOMENT = "/proc/.*|/sys/.*";

  private SimulatedCheckpoints() {}

  /**
   * Writes CRaC's classes to {@code directory}, and returns the JVM option that adds them to a
   * program.
   */
  public static String option(Path directory) {
    try {
      for (Class<?> type :
          List.of(Core.class, Core.getGlobalContext().getClass(), Context.class, Resource.class)) {
        String name = type.getName().replace('.', '/') + ".class";
        Path file = directory.resolve(name);
        Files.createDirectories(Objects.requireNonNull(file.getParent()));
        try (InputStream classFile = Core.class.getResourceAsStream("/" + name)) {
          Files.write(file, Objects.requireNonNull(classFile).readAllBytes());
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return "-Xbootclasspath/a:" + directory;
  }

  /** Collects garbage, and then closes all resources, as for a checkpoint. */
  public static void begin() throws Exception {
    WeakReference<Object> unreferenced = new WeakReference<>(new Object());
    while (unreferenced.get() != null) {
      System.gc();
    }
    Core.getGlobalContext().beforeCheckpoint(Core.getGlobalContext());
  }

  public static void end() throws Exception {
    Core.getGlobalContext().afterRestore(Core.getGlobalContext());
  }

  /**
   * Returns the names of the files and sockets that were open at any time within a second. The
   * JVM's own files are left out. A file that matches {@link #OF_A_MOMENT} is left out unless it
   * was open all the time.
   */
  public static Set<String> open() throws Exception {
    Set<String> seen = new TreeSet<>(targets());
    Set<String> always = new TreeSet<>(seen);
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
    while (System.nanoTime() < end) {
      Thread.sleep(10);
      Set<String> now = targets();
      seen.addAll(now);
      always.retainAll(now);
    }
    seen.removeIf(target -> target.matches(OF_A_MOMENT) && !always.contains(target));
    return seen.stream()
        .map(target -> new File(target).getName())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Set<String> targets() {
    return Stream.of(Objects.requireNonNull(DESCRIPTORS.toFile().list()))
        .filter(descriptor -> Integer.parseInt(descriptor) > 2)
        .map(SimulatedCheckpoints::target)
        .filter(target -> !target.matches(OF_JVM) && !target.equals(CLOSED))
        .collect(Collectors.toSet());
  }

  private static String target(String descriptor) {
    try {
      return Files.readSymbolicLink(DESCRIPTORS.resolve(descriptor)).toString();
    } catch (IOException e) {
      return CLOSED;
    }
  }
}
