package io.mallometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Skips a test if a program or file that it needs is not installed. Fails the test instead if the
 * environment variable named by {@code variable} is {@code true}.
 */
public final class RequiredProgram {

  private RequiredProgram() {}

  public static void onPath(String program, String debianPackage, String variable) {
    boolean there =
        Stream.of(System.getenv("PATH").split(":"))
            .anyMatch(directory -> Files.isExecutable(Path.of(directory, program)));
    isThere(there, program, debianPackage, variable);
  }

  public static void at(Path file, String debianPackage, String variable) {
    isThere(Files.isReadable(file), file.toString(), debianPackage, variable);
  }

  private static void isThere(boolean there, String what, String debianPackage, String variable) {
    String message = what + " is not there; it is in Debian's package " + debianPackage;
    if ("true".equals(System.getenv(variable))) {
      assertThat(there).as(message).isTrue();
    }
    assumeTrue(there, message);
  }
}
