package io.mallometer.internal.process;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

final class Captured {

  private Captured() {}

  static String text(String name) {
    try (InputStream in = Captured.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalArgumentException(name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static List<Mapping> mappings(String smaps) {
    try {
      return Smaps.parse(new ByteArrayInputStream(smaps.getBytes(StandardCharsets.UTF_8)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
