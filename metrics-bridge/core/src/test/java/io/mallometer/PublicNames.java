package io.mallometer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The file {@code docs/public-names.txt}, which lists all names that users see. Tests compare its
 * sections with what a running service shows, so that reviewers see each change of a name.
 *
 * <p>A name with the mark {@value #IN_SOME_STATES} is shown only in certain states of a service.
 * With {@code -Dpublic.names=write} a test writes its section, and keeps the marks.
 */
public final class PublicNames {

  private static final String FILE = "docs/public-names.txt";
  private static final String IN_SOME_STATES = " (in some states)";
  private static final boolean WRITES = "write".equals(System.getProperty("public.names"));
  private static final Duration LONGEST_WAIT = Duration.ofMinutes(1);

  private PublicNames() {}

  public static void check(String section, Collection<String> shown) {
    check(section, shown, List.of());
  }

  /**
   * Compares a section with the names that services show.
   *
   * @param shown the names that a service shows in its normal state
   * @param shownInSomeStates the names that services show only in certain other states
   */
  public static void check(
      String section, Collection<String> shown, Collection<String> shownInSomeStates) {
    Set<String> listed = listed(section);
    Set<String> lines = new TreeSet<>();
    for (Collection<String> names : List.of(shown, shownInSomeStates)) {
      for (String name : names) {
        boolean marked = listed.contains(name + IN_SOME_STATES) || !shown.contains(name);
        lines.add(marked ? name + IN_SOME_STATES : name);
      }
    }
    if (WRITES) {
      write(section, lines);
    } else if (!lines.equals(listed)) {
      throw new AssertionError(difference(section, listed, lines));
    }
  }

  public static void checkListed(String section, Collection<String> shown) {
    Set<String> unknown = new TreeSet<>(shown);
    Set<String> listed = names(section);
    unknown.removeIf(name -> listed.stream().anyMatch(line -> stands(name, line)));
    if (!unknown.isEmpty()) {
      throw new AssertionError(difference(section, Set.of(), unknown));
    }
  }

  public static void checkAnswers(Collection<String> shown) {
    Map<Boolean, List<String>> ofTable =
        shown.stream().collect(Collectors.partitioningBy(name -> name.startsWith("table ")));
    checkListed("keys in the table in JSON", ofTable.get(true));
    checkListed("keys in JSON", ofTable.get(false));
  }

  /**
   * Returns whether a line of the file lists a name. The line may be the name, a longer name that
   * begins with it, or a pattern with a star that matches it.
   */
  private static boolean stands(String name, String line) {
    return line.equals(name)
        || line.startsWith(name + ".")
        || line.startsWith(name + "[]")
        || line.contains("*") && name.matches(("\\Q" + line + "\\E").replace("*", "\\E.*\\Q"));
  }

  public static Set<String> names(String section) {
    return listed(section).stream()
        .map(PublicNames::name)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static String name(String line) {
    return line.endsWith(IN_SOME_STATES)
        ? line.substring(0, line.length() - IN_SOME_STATES.length())
        : line;
  }

  /**
   * Asks a service repeatedly, for at most a minute, and returns all names that the service has
   * shown. Stops earlier when all names of the section were shown, except those marked {@value
   * #IN_SOME_STATES}.
   */
  public static Set<String> await(String section, Supplier<Collection<String>> asked) {
    Set<String> expected = listed(section);
    expected.removeIf(line -> line.endsWith(IN_SOME_STATES));
    Set<String> shown = new TreeSet<>(asked.get());
    long end = System.nanoTime() + LONGEST_WAIT.toNanos();
    while (!shown.containsAll(expected) && System.nanoTime() < end) {
      try {
        Thread.sleep(200);
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      shown.addAll(asked.get());
    }
    return shown;
  }

  private static String difference(String section, Set<String> listed, Set<String> shown) {
    Set<String> all = new TreeSet<>(listed);
    all.addAll(shown);
    StringBuilder text = new StringBuilder("\n--- " + FILE + " [" + section + "]\n");
    text.append("+++ what is shown\n");
    for (String line : all) {
      if (!listed.contains(line) || !shown.contains(line)) {
        text.append(shown.contains(line) ? '+' : '-').append(line).append('\n');
      }
    }
    return text.append("These names are a contract.\n")
        .append("If it changes, change " + FILE + " in the same commit; its head says how.\n")
        .toString();
  }

  private static Set<String> listed(String section) {
    return new TreeSet<>(body(lines(), section));
  }

  private static void write(String section, Set<String> names) {
    List<String> lines = new ArrayList<>(lines());
    List<String> body = body(lines, section);
    body.clear();
    body.addAll(names);
    try {
      Files.write(file(), lines);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns a view of the lines between a section's heading and the next empty line. */
  private static List<String> body(List<String> lines, String section) {
    int begin = lines.indexOf("[" + section + "]") + 1;
    if (begin == 0) {
      throw new AssertionError(FILE + " has no section [" + section + "]");
    }
    List<String> rest = lines.subList(begin, lines.size());
    int end = rest.indexOf("");
    return end < 0 ? rest : rest.subList(0, end);
  }

  private static List<String> lines() {
    try {
      return Files.readAllLines(file());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Finds the file in a parent directory, because a test runs in the directory of its module. */
  private static Path file() {
    Path directory = Path.of("").toAbsolutePath();
    while (!Files.exists(directory.resolve(FILE))) {
      directory = directory.getParent();
    }
    return directory.resolve(FILE);
  }
}
