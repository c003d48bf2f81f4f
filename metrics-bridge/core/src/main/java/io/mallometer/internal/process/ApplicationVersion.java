package io.mallometer.internal.process;

import java.io.File;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import org.jspecify.annotations.Nullable;

/**
 * The version of the application in this process, for use if no option states one: {@code
 * service.version} in {@code OTEL_RESOURCE_ATTRIBUTES}, or else the Implementation-Version of the
 * jar that {@code java -jar} runs.
 */
public final class ApplicationVersion {

  static final int LONGEST = 64;

  static final String VARIABLE = "OTEL_RESOURCE_ATTRIBUTES";

  private static final String KEY = "service.version";
  private static final String NOT_SHOWN = "[\\p{C}\\p{Z}&&[^ ]]";

  private ApplicationVersion() {}

  /** Returns the version of this process' application; empty if unknown. Never throws. */
  public static Optional<String> ofThisProcess() {
    try {
      return of(
          System.getenv(),
          System.getProperty("sun.java.command", ""),
          System.getProperty("java.class.path", ""));
    } catch (SecurityException e) {
      return Optional.empty();
    }
  }

  static Optional<String> of(Map<String, String> environment, String command, String classPath) {
    String attributes = environment.getOrDefault(VARIABLE, "");
    Optional<String> stated = attributes.isEmpty() ? Optional.empty() : ofAttributes(attributes);
    Optional<File> jar = stated.isPresent() ? Optional.empty() : jar(command, classPath);
    return jar.isPresent() ? ofJar(jar.get()) : stated;
  }

  /** Returns a version without control characters, cut to 64 characters; empty if blank. */
  public static Optional<String> clean(String version) {
    String clean = version.replaceAll(NOT_SHOWN, "").strip();
    if (clean.length() > LONGEST) {
      boolean halved = Character.isHighSurrogate(clean.charAt(LONGEST - 1));
      clean = clean.substring(0, halved ? LONGEST - 1 : LONGEST);
    }
    return clean.isEmpty() ? Optional.empty() : Optional.of(clean);
  }

  /**
   * Reads attributes of the form {@code key=value,key=value}, whose values are percent-encoded.
   *
   * @see <a href="https://opentelemetry.io/docs/specs/otel/resource/sdk/">OpenTelemetry, Resource
   *     SDK</a>
   */
  static Optional<String> ofAttributes(String attributes) {
    for (String attribute : attributes.split(",")) {
      String[] pair = attribute.split("=", 2);
      if (pair.length == 2 && pair[0].strip().equals(KEY)) {
        return decoded(pair[1]).flatMap(ApplicationVersion::clean);
      }
    }
    return Optional.empty();
  }

  /**
   * Decodes a percent-encoded value; empty if the value is invalid. A plus sign stands for itself,
   * unlike in a form.
   */
  private static Optional<String> decoded(String value) {
    try {
      return Optional.of(URLDecoder.decode(value.replace("+", "%2B"), StandardCharsets.UTF_8));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /**
   * Returns the jar that {@code java -jar} runs: the first entry of the class path, because agents
   * only append entries. Empty unless the command begins with this entry.
   */
  static Optional<File> jar(String command, String classPath) {
    String first = classPath.split(File.pathSeparator, 2)[0];
    boolean runs = !first.isEmpty() && (command + " ").startsWith(first + " ");
    return runs ? Optional.of(new File(first)) : Optional.empty();
  }

  static Optional<String> ofJar(File file) {
    try (JarFile jar = new JarFile(file, false)) {
      @Nullable Manifest manifest = jar.getManifest();
      @Nullable String version =
          manifest == null
              ? null
              : manifest.getMainAttributes().getValue(Attributes.Name.IMPLEMENTATION_VERSION);
      return version == null ? Optional.empty() : clean(version);
    } catch (IOException | RuntimeException e) {
      return Optional.empty();
    }
  }
}
