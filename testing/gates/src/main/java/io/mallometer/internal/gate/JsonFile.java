package io.mallometer.internal.gate;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import com.google.gson.Strictness;
import com.google.gson.stream.JsonReader;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads values of a JSON file. An error names the file and the place in it. */
final class JsonFile {

  private static final Pattern PLACE = Pattern.compile("line \\d+ column \\d+");

  private final Path path;
  private final JsonElement content;

  /**
   * Reads a file.
   *
   * @throws UnusableResultsException if the content is not one JSON value in UTF-8
   * @throws IOException if the file cannot be read
   */
  JsonFile(Path path) throws IOException {
    this.path = path;
    String text;
    try {
      text = Files.readString(path, StandardCharsets.UTF_8);
    } catch (NoSuchFileException e) {
      throw new IOException(path + " does not exist", e);
    } catch (CharacterCodingException e) {
      throw unusable("the file is not text in UTF-8");
    }
    JsonReader reader = new JsonReader(new StringReader(text));
    reader.setStrictness(Strictness.STRICT);
    try {
      reader.peek(); // Fails if the text is empty, for which the parser would return null.
      content = JsonParser.parseReader(reader);
      reader.peek(); // Fails if anything follows.
    } catch (IOException | JsonParseException e) {
      throw unusable("the file is not JSON, or not all of it was written" + place(e));
    }
  }

  /**
   * Returns the place where the parser stopped. The rest of the parser's message is for programmers
   * and is left out.
   */
  private static String place(Exception e) {
    Matcher place = PLACE.matcher(String.valueOf(e.getMessage()));
    return place.find() ? "; see " + place.group() : "";
  }

  JsonElement content() {
    return content;
  }

  UnusableResultsException unusable(String reason) {
    return new UnusableResultsException(path + ": " + reason);
  }

  JsonObject object(JsonElement value, String what) throws UnusableResultsException {
    if (value instanceof JsonObject object) {
      return object;
    }
    throw unusable(what + " is not an object");
  }

  JsonObject object(JsonObject in, String name, String what) throws UnusableResultsException {
    return object(member(in, name, what), what + ": \"" + name + "\"");
  }

  JsonArray array(JsonObject in, String name, String what) throws UnusableResultsException {
    if (member(in, name, what) instanceof JsonArray array) {
      return array;
    }
    throw unusable(what + ": \"" + name + "\" is not an array");
  }

  String text(JsonObject in, String name, String what) throws UnusableResultsException {
    if (member(in, name, what) instanceof JsonPrimitive primitive
        && primitive.isString()
        && !primitive.getAsString().isBlank()) {
      return primitive.getAsString();
    }
    throw unusable(what + ": \"" + name + "\" is not a text");
  }

  /** Returns a finite number. JMH writes the text "NaN" for unknown figures, which is refused. */
  double number(JsonElement value, String what) throws UnusableResultsException {
    if (value instanceof JsonPrimitive primitive && primitive.isNumber()) {
      double number = primitive.getAsDouble();
      if (Double.isFinite(number)) {
        return number;
      }
    }
    throw unusable(
        what
            + " is "
            + (value instanceof JsonPrimitive primitive ? primitive.getAsString() : "no number")
            + ", where a finite number is expected");
  }

  void onlyHas(JsonObject in, Set<String> known, String what) throws UnusableResultsException {
    Set<String> others = new TreeSet<>(in.keySet());
    others.removeAll(known);
    if (!others.isEmpty()) {
      throw unusable(
          what
              + ": \""
              + others.iterator().next()
              + "\" is not known; there are "
              + String.join(", ", new TreeSet<>(known)));
    }
  }

  private JsonElement member(JsonObject in, String name, String what)
      throws UnusableResultsException {
    JsonElement value = in.get(name);
    if (value == null) {
      throw unusable(what + ": \"" + name + "\" is missing");
    }
    return value;
  }
}
