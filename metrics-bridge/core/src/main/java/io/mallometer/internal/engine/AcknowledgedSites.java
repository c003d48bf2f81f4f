package io.mallometer.internal.engine;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Names of call sites that are known to be fine, most because somebody said so; one that ends in
 * {@code *} is the beginning of a name. At most {@value #MOST} are kept. Thread-safe.
 *
 * <p>From the start there are those of HotSpot's own records of compiled methods, which nobody
 * reads but the collector, and which are kept as long as the code: while a program warms up they
 * look as a leak does, and what bounds them is the code cache.
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
