package io.mallometer.agent.command;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import com.google.gson.Strictness;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import java.io.IOException;
import java.io.StringReader;
import java.util.List;

/** A JSON value. A value that is missing, null or of another type is unknown: NaN or empty. */
final class Json {

  private final JsonElement value;

  private Json(JsonElement value) {
    this.value = value;
  }

  /**
   * Parses a text. Throws an {@code IllegalArgumentException} that says where the text is not JSON.
   */
  static Json parse(String text) {
    JsonReader reader = new JsonReader(new StringReader(text));
    reader.setStrictness(Strictness.STRICT);
    try {
      reader.peek(); // rejects an empty text, for which the parser returns null
      Json json = new Json(JsonParser.parseReader(reader));
      if (reader.peek() != JsonToken.END_DOCUMENT) {
        throw new IllegalArgumentException("not JSON: it has more than one value");
      }
      return json;
    } catch (IOException | JsonParseException e) {
      throw new IllegalArgumentException("no JSON: " + e.getMessage(), e);
    }
  }

  Json at(String... names) {
    JsonElement found = value;
    for (String name : names) {
      found =
          found instanceof JsonObject object && object.has(name)
              ? object.get(name)
              : JsonNull.INSTANCE;
    }
    return new Json(found);
  }

  boolean present() {
    return !value.isJsonNull();
  }

  String text() {
    return value instanceof JsonPrimitive primitive
        ? primitive.getAsString()
        : present() ? value.toString() : "";
  }

  double number() {
    return value instanceof JsonPrimitive primitive && primitive.isNumber()
        ? primitive.getAsDouble()
        : Double.NaN;
  }

  boolean truth() {
    return value instanceof JsonPrimitive primitive
        && primitive.isBoolean()
        && primitive.getAsBoolean();
  }

  List<Json> list() {
    return value instanceof JsonArray array
        ? array.asList().stream().map(Json::new).filter(Json::present).toList()
        : List.of();
  }

  List<String> texts() {
    return list().stream().map(Json::text).toList();
  }

  List<String> names() {
    return value instanceof JsonObject object
        ? object.keySet().stream().filter(name -> at(name).present()).toList()
        : List.of();
  }

  double estimate() {
    return at("value").present() ? at("value").number() : number();
  }
}
