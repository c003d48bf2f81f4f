package io.mallometer.view;

import io.mallometer.internal.text.JsonWriter;
import io.mallometer.model.FigureTree;
import java.io.BufferedWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The answer to one request. An implementation is a record whose fields {@link FigureTree} can turn
 * into JSON: records, strings, numbers, booleans, lists and maps.
 */
public interface View {

  /**
   * A view that shows one record or a list of records. It shows an unknown record as an empty
   * object.
   *
   * @param answer the record or the list
   */
  record Of(Object answer) implements View {

    @Override
    public Object tree() {
      @Nullable Object known = FigureTree.of(answer);
      return known == null ? Map.of() : known;
    }
  }

  /** Returns this view as ordered maps, lists, strings, numbers and booleans. */
  default Object tree() {
    return this instanceof Record fields ? FigureTree.fields(fields) : Map.of();
  }

  /** Writes {@link #tree()} as JSON. */
  default void write(Writer out) throws IOException {
    JsonWriter.to(out).tree(tree());
  }

  /** Writes {@link #tree()} as JSON in UTF-8. Flushes the stream and does not close it. */
  default void write(OutputStream out) throws IOException {
    Writer text = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8));
    write(text);
    text.flush();
  }

  /** Returns {@link #tree()} as JSON in UTF-8. */
  default byte[] json() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try {
      write(out);
    } catch (IOException e) {
      throw new UncheckedIOException("memory takes all that is written to it", e);
    }
    return out.toByteArray();
  }
}
