package io.mallometer.agent.command;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Every view of a process, read one after the other: as one JSON object, which {@code diff} reads
 * again, and by name.
 *
 * @param views JSON texts by name
 */
record Overview(Map<String, String> views) {

  static final String ROOT = "nativememory";

  private static final List<String> NAMES =
      List.of(ROOT, "diagnosis", "breakdown", "cgroup", "budget", "allocator");

  /**
   * Asks for all.
   *
   * @param sites how many call sites at most
   * @param since what of the call sites changed since then is told as well; empty for nothing
   */
  static Overview of(Source source, int sites, Optional<String> since) throws Failure, IOException {
    Map<String, String> views = new LinkedHashMap<>();
    for (String name : NAMES) {
      views.put(name, text(source, name));
    }
    views.put("sites", text(source, "sites?limit=" + sites));
    if (since.isPresent() && Json.parse(views.get(ROOT)).at("holders").present()) {
      views.put("changes", text(source, "sites?limit=" + sites + "&from=" + since.get()));
    }
    return new Overview(views);
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
