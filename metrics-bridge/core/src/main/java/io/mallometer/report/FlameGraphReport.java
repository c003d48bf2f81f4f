package io.mallometer.report;

import io.mallometer.internal.text.InlineText;
import io.mallometer.internal.text.JsonWriter;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.ResidentStacks;
import io.mallometer.model.ResidentStacks.ResidentStack;
import io.mallometer.model.StackFrame;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Writes a flame graph as one HTML file with its style, its script, and the stacks with their
 * values of all metrics. The Content Security Policy of the file allows only this style and this
 * script, by their hashes. Therefore the name of a frame cannot run as a script.
 *
 * <p>The stacks are written in sorted order, and each without the outermost frames that it shares
 * with the previous stack. Therefore the tree of stacks need not be built in memory.
 */
final class FlameGraphReport implements Report {

  private static final ReportMetric[] METRICS = ReportMetric.values();

  /**
   * The label of a box. It has no source line and no offset, so that all frames of a function share
   * a box.
   */
  private record Label(StackFrame.Kind kind, String function) {

    /**
     * Returns the kind for the report's JavaScript: 0 for native code, 1 for Java, 2 for a Java
     * method after which a call site is named.
     */
    int number(Set<String> names) {
      return kind == StackFrame.Kind.NATIVE ? 0 : names.contains(function) ? 2 : 1;
    }
  }

  private record Stack(int[] labels, long[] figures) {}

  @Override
  public void write(CallSites sites, ReportMetric metric, OutputStream out) throws IOException {
    Numbering<Label> labels = new Numbering<>(0);
    List<Stack> stacks = sorted(sites, labels);
    Map<String, Object> head = new LinkedHashMap<>();
    head.put("title", "Native memory by call site");
    head.put("metric", metric.id());
    head.put("time", sites.time());
    head.put("samples", sites.samples());
    head.put("byteUnit", sites.byteUnit().tag());
    head.put("reason", sites.reason());
    head.put("origin", sites.origin().sentence());
    head.put("metrics", Arrays.stream(METRICS).map(ReportMetric::id).toList());
    write(out, head, stacks, labels, names(sites));
  }

  static void write(ResidentStacks resident, OutputStream out) throws IOException {
    Numbering<Label> labels = new Numbering<>(0);
    Map<StackFrame, Integer> numbers = new HashMap<>();
    List<Stack> stacks = new ArrayList<>();
    for (ResidentStack stack : resident.stacks()) {
      int[] frames = numbers(stack.frames(), numbers, labels);
      stacks.add(new Stack(frames, new long[] {stack.bytes()}));
    }
    stacks.sort(Comparator.comparing(Stack::labels, Arrays::compare));
    Map<String, Object> head = new LinkedHashMap<>();
    head.put("title", "Resident memory by call site");
    head.put("metric", ReportFormat.RESIDENT);
    head.put("time", resident.time());
    head.put("samples", 0);
    head.put("byteUnit", "");
    head.put("reason", resident.reason());
    head.put("origin", "");
    head.put("metrics", List.of(ReportFormat.RESIDENT));
    write(out, head, stacks, labels, Set.of());
  }

  private static void write(
      OutputStream out,
      Map<String, Object> head,
      List<Stack> stacks,
      Numbering<Label> labels,
      Set<String> names)
      throws IOException {
    Writer page = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8));
    InlineText style = InlineText.of(FlameGraphReport.class, "flamegraph.css");
    InlineText script = InlineText.of(FlameGraphReport.class, "flamegraph.js");
    String[] around =
        InlineText.of(FlameGraphReport.class, "flamegraph.html").text().split("\\{\\{[a-z]+}}");
    page.write(around[0]);
    page.write(policy(style, script));
    page.write(around[1]);
    page.write(style.text());
    page.write(around[2]);
    JsonWriter json = JsonWriter.insideHtml(page).beginObject();
    for (Map.Entry<String, Object> field : head.entrySet()) {
      json.name(field.getKey()).tree(field.getValue());
    }
    writeStacks(stacks, json);
    writeLabels(labels, names, json);
    json.endObject();
    page.write(around[3]);
    page.write(script.text());
    page.write(around[4]);
    page.flush();
  }

  private static List<Stack> sorted(CallSites sites, Numbering<Label> labels) {
    Map<StackFrame, Integer> numbers = new HashMap<>();
    List<Stack> stacks = new ArrayList<>();
    for (CallSite site : sites.sites()) {
      long[] figures = Arrays.stream(METRICS).mapToLong(metric -> metric.wholeOf(site)).toArray();
      if (Arrays.stream(figures).anyMatch(figure -> figure > 0)) {
        stacks.add(new Stack(numbers(Stacks.of(site), numbers, labels), figures));
      }
    }
    stacks.sort(Comparator.comparing(Stack::labels, Arrays::compare));
    return stacks;
  }

  private static int[] numbers(
      List<StackFrame> frames, Map<StackFrame, Integer> numbers, Numbering<Label> labels) {
    int[] outermostFirst = new int[frames.size()];
    int next = frames.size();
    for (StackFrame frame : frames) {
      outermostFirst[--next] =
          numbers.computeIfAbsent(
              frame, unseen -> labels.of(new Label(unseen.kind(), unseen.function())));
    }
    return outermostFirst;
  }

  /**
   * Writes the stacks, one a line: the number of outermost frames that the stack shares with the
   * previous stack, the number of its other frames, the labels of its other frames, and its values.
   */
  private static void writeStacks(List<Stack> stacks, JsonWriter json) throws IOException {
    json.name("stacks").beginArray();
    int[] before = {};
    for (Stack stack : stacks) {
      int[] labels = stack.labels();
      int mismatch = Arrays.mismatch(before, labels);
      int shared = mismatch < 0 ? labels.length : mismatch;
      json.line().value(shared).value(labels.length - shared);
      for (int i = shared; i < labels.length; i++) {
        json.value(labels[i]);
      }
      for (long figure : stack.figures()) {
        json.value(figure);
      }
      before = labels;
    }
    json.endArray();
  }

  private static Set<String> names(CallSites sites) {
    return sites.sites().stream().map(CallSite::name).collect(Collectors.toSet());
  }

  private static void writeLabels(Numbering<Label> labels, Set<String> names, JsonWriter json)
      throws IOException {
    json.name("names").beginArray();
    for (Label label : labels.all()) {
      json.line().value(label.function());
    }
    json.endArray().name("java").beginArray();
    for (Label label : labels.all()) {
      json.value(label.number(names));
    }
    json.endArray();
  }

  private static String policy(InlineText style, InlineText script) {
    return "default-src 'none'; style-src "
        + style.source()
        + "; script-src "
        + script.source()
        + "; base-uri 'none'; form-action 'none'";
  }
}
