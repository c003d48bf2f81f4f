package io.mallometer.agent.command;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Every view of a process, read one after the other: as one JSON object, which {@code diff} reads
 * again, and by name.
 *
 * @param views JSON texts by name
 */
record Overview(Map<String, String> views) {

  static final String ROOT = "nativememory";

  private static final List<String> NAMES = List.of(ROOT, "diagnosis");

  /**
   * Asks for all.
   *
   * @param sites how many call sites at most
   */
  static Overview of(Source source, int sites) throws Failure, IOException {
    Map<String, String> views = new LinkedHashMap<>();
    for (String name : NAMES) {
      views.put(name, text(source, name));
    }
    views.put("sites", text(source, "sites?limit=" + sites));
    return new Overview(views);
  }

  /** With what changed of call sites, as {@link SiteGrowth} writes it. */
  Overview with(String changes) {
    Map<String, String> more = new LinkedHashMap<>(views);
    more.put("changes", changes);
    return new Overview(more);
  }

  private static String text(Source source, String what) throws Failure, IOException {
    try (InputStream body = source.get(what).body()) {
      return new String(body.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  Json view(String name) {
    String text = views.get(name);
    return Json.parse(text == null ? "{}" : text);
  }

  /** One object with the views as they were answered, a line each. */
  String json() {
    StringBuilder json = new StringBuilder("{");
    views.forEach(
        (name, text) ->
            json.append(json.length() > 1 ? ",\n\"" : "\n\"")
                .append(name)
                .append("\":")
                .append(text.strip()));
    return json.append("\n}\n").toString();
  }
}
