package io.mallometer.agent.command;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Explains why a program on macOS starts without the library although {@code DYLD_INSERT_LIBRARIES}
 * names it.
 *
 * <p>System Integrity Protection removes the variable from the environment of system programs, such
 * as {@code /usr/bin/java} or a script's interpreter {@code /bin/sh}. Programs that a system
 * program starts therefore lack the variable, too. A program with a hardened runtime keeps the
 * variable only if it was signed with the entitlement {@code
 * com.apple.security.cs.allow-dyld-environment-variables}, which {@code codesign} shows.
 */
final class DyldProtection {

  static final String VARIABLE = "DYLD_INSERT_LIBRARIES";

  private static final List<String> PROTECTED =
      List.of("/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/libexec/", "/System/");
  private static final int LONGEST_LINE = 256;

  private static final String INSTEAD =
      "; name the JDK's own program, such as $JAVA_HOME/bin/java of Eclipse Temurin, which has"
          + " the entitlement (JetBrains Runtime does not)";

  private DyldProtection() {}

  static Optional<String> objection(Path executable) {
    return objection(executable.toString(), interpreter(executable));
  }

  /**
   * Returns why a program does not load the library; empty if no reason is found.
   *
   * @param interpreter the interpreter in a script's first line; empty if the program is no script
   */
  static Optional<String> objection(String executable, String interpreter) {
    if (isProtected(executable)) {
      return Optional.of(
          "macOS takes "
              + VARIABLE
              + " from "
              + executable
              + ", a program of the system"
              + INSTEAD);
    }
    if (isProtected(interpreter)) {
      return Optional.of(
          "macOS takes "
              + VARIABLE
              + " from "
              + interpreter
              + ", which runs the script "
              + executable
              + INSTEAD);
    }
    return Optional.empty();
  }

  private static boolean isProtected(String program) {
    return PROTECTED.stream().anyMatch(program::startsWith);
  }

  private static String interpreter(Path executable) {
    try (InputStream in = Files.newInputStream(executable)) {
      String begin = new String(in.readNBytes(LONGEST_LINE), StandardCharsets.ISO_8859_1);
      return begin.startsWith("#!") ? begin.substring(2).strip().split("\\s", 2)[0] : "";
    } catch (IOException | RuntimeException e) {
      return "";
    }
  }
}
