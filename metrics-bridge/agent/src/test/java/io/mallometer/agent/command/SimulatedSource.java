package io.mallometer.agent.command;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** A fake process for tests of the command line. A test defines how the process answers. */
final class SimulatedSource implements Source {

  static final Instant START = Instant.parse("2026-01-01T12:00:00Z");

  private final Map<String, Double> libraries = new LinkedHashMap<>();
  private final Map<String, Double> sites = new LinkedHashMap<>();
  private String trends = "{}";
  private double error = 0.01;
  private Instant now = START;

  SimulatedSource library(String name, double liveBytes) {
    libraries.put(name, liveBytes);
    return this;
  }

  SimulatedSource site(String name, double liveBytes) {
    sites.put(name, liveBytes);
    return this;
  }

  /**
   * Sets the relative error of all estimates: half the width of an estimate's interval, divided by
   * the estimate.
   */
  SimulatedSource withError(double share) {
    error = share;
    return this;
  }

  SimulatedSource withTrends(String json) {
    trends = json;
    return this;
  }

  SimulatedSource after(int seconds) {
    now = START.plusSeconds(seconds);
    return this;
  }

  @Override
  public String name() {
    return "simulated";
  }

  @Override
  public Reply get(String what) {
    String json =
        switch (what.replaceFirst("&limit=\\d+", "")) {
          case "nativememory" ->
              ("{\"time\":\"%s\",\"status\":{\"state\":\"ACTIVE\"},\"process\":{\"liveBytes\":%.0f},"
                      + "\"memory\":{\"residentBytes\":1000}}")
                  .formatted(now, total(libraries));
          case "diagnosis" -> "{\"state\":\"watch\",\"sentence\":\"Memory grows\"}";
          case "breakdown" -> "{}";
          case "trends" -> trends;
          case "sites?group=library" -> groups(libraries);
          case "sites?group=site" -> groups(sites);
          default -> throw new IllegalArgumentException(what);
        };
    return new Reply(
        "application/json", new ByteArrayInputStream(json.getBytes(StandardCharsets.UTF_8)));
  }

  private String groups(Map<String, Double> figures) {
    return figures.entrySet().stream()
        .map(
            group ->
                "{\"key\":\"%s\",\"liveBytes\":{\"value\":%.0f,\"low\":%.0f,\"high\":%.0f}}"
                    .formatted(
                        group.getKey(),
                        group.getValue(),
                        group.getValue() * (1 - error),
                        group.getValue() * (1 + error)))
        .collect(
            Collectors.joining(
                ",",
                "{\"reading\":{\"time\":\"%s\"},\"matching\":%d,\"groups\":["
                    .formatted(now, figures.size()),
                "]}"));
  }

  private static double total(Map<String, Double> figures) {
    return figures.values().stream().mapToDouble(Double::doubleValue).sum();
  }

  @Override
  public Reply post(String what) {
    throw new UnsupportedOperationException(what);
  }

  @Override
  public void close() {
    // Does nothing, because nothing is open.
  }
}
