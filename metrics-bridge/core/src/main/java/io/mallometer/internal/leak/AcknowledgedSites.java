package io.mallometer.internal.leak;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Names of acknowledged call sites. An entry that ends in {@code *} acknowledges all names that
 * begin with the text before it. Ignores entries beyond {@value #MOST}. Thread-safe.
 *
 * <p>The call sites at which HotSpot allocates its records of compiled methods are acknowledged
 * from the start. They look like a leak while a program warms up, because only the garbage
 * collector reads the records. They are not a leak, because the size of the code cache limits the
 * records.
 */
final class AcknowledgedSites {

  static final int MOST = 10_000;

  private static final String WILDCARD = "*";

  private static final List<String> OF_COMPILED_CODE =
      List.of("libjvm.so!ImmutableOopMapSet::build_from", "libjvm.so!nmethod::new_nmethod");

  private final Set<String> names = ConcurrentHashMap.newKeySet();
  private final Set<String> beginnings = ConcurrentHashMap.newKeySet();

  AcknowledgedSites() {
    names.addAll(OF_COMPILED_CODE);
  }

  void add(List<String> sites) {
    for (String site : sites) {
      String name = site.strip();
      if (!name.isEmpty() && names.size() + beginnings.size() < MOST) {
        put(name);
      }
    }
  }

  private void put(String name) {
    if (name.endsWith(WILDCARD)) {
      beginnings.add(beginning(name));
    } else {
      names.add(name);
    }
  }

  void remove(String site) {
    String name = site.strip();
    names.remove(name);
    if (name.endsWith(WILDCARD)) {
      beginnings.remove(beginning(name));
    }
  }

  boolean contain(String site) {
    if (names.contains(site)) {
      return true;
    }
    for (String beginning : beginnings) {
      if (site.startsWith(beginning)) {
        return true;
      }
    }
    return false;
  }

  private static String beginning(String name) {
    return name.substring(0, name.length() - WILDCARD.length());
  }
}
