package io.mallometer.agent.command;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The views of a process's memory (JSON documents). They are read one after the other, so they show
 * different moments.
 *
 * @param views the JSON texts of the views, by name
 */
record Overview(Map<String, String> views) {

  static final String ROOT = "nativememory";

  private static final List<String> NAMES = List.of(ROOT, "diagnosis");

  /** Reads all views from a source, with at most the given number of call sites. */
  static Overview of(Source source, int sites) throws Failure, IOException {
    Map<String, String> views = new LinkedHashMap<>();
    for (String name : NAMES) {
      views.put(name, text(source, name));
    }
    views.put("sites", text(source, "sites?limit=" + sites));
    return new Overview(views);
  }

  /**
   * Returns a copy of this overview with the changes of the live bytes of call sites.
   *
   * @param changes the JSON text from {@link SiteGrowth#until}
   */
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

  /** Returns one JSON object that contains the unchanged text of each view. */
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
