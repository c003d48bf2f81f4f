package io.mallometer.internal.gate;

import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.mallometer.internal.gate.Comparison.Figure;
import io.mallometer.internal.gate.Comparison.Problem;

/** A comparison as JSON, with every figure. */
final class JsonReport {

  private JsonReport() {}

  static String of(Comparison comparison) {
    JsonObject report = new JsonObject();
    report.addProperty("outcome", comparison.outcome().id());
    JsonArray figures = new JsonArray();
    for (Figure figure : comparison.figures()) {
      JsonObject one = of(figure.key());
      one.addProperty("percentile", figure.percentile().id());
      one.addProperty("unit", figure.unit());
      one.addProperty("expected", Numbers.written(figure.expected()));
      one.addProperty("measured", Numbers.written(figure.measured()));
      one.addProperty("allowed", Numbers.written(figure.tolerance()));
      one.addProperty("noise", Numbers.written(figure.noise()));
      one.addProperty("verdict", figure.verdict().id());
      figures.add(one);
    }
    report.add("figures", figures);
    JsonArray problems = new JsonArray();
    for (Problem problem : comparison.problems()) {
      JsonObject one = of(problem.key());
      one.addProperty("reason", problem.reason());
      problems.add(one);
    }
    report.add("problems", problems);
    JsonArray added = new JsonArray();
    comparison.added().forEach(key -> added.add(of(key)));
    report.add("new", added);
    return new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create().toJson(report)
        + "\n";
  }

  private static JsonObject of(Key key) {
    JsonObject object = new JsonObject();
    object.addProperty("name", key.name());
    object.addProperty("metric", key.metric());
    return object;
  }
}
