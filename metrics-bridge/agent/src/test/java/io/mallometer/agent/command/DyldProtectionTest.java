package io.mallometer.agent.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DyldProtectionTest {

  @ParameterizedTest
  @ValueSource(strings = {"/usr/bin/java", "/bin/sh", "/usr/bin/env", "/System/Library/x/java"})
  void programsOfTheSystemLoseTheVariable(String program) {
    assertThat(DyldProtection.objection(program, "").orElseThrow())
        .startsWith("macOS takes DYLD_INSERT_LIBRARIES from " + program)
        .contains("$JAVA_HOME/bin/java")
        .contains("Temurin")
        .contains("JetBrains");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/Library/Java/JavaVirtualMachines/temurin-21.jdk/Contents/Home/bin/java",
        "/opt/homebrew/bin/mvn",
        "/usr/local/bin/java",
        "./java"
      })
  void otherProgramsMayKeepIt(String program) {
    assertThat(DyldProtection.objection(program, "")).isEmpty();
    assertThat(DyldProtection.objection(program, "/opt/homebrew/bin/bash")).isEmpty();
  }

  @Test
  void aScriptLosesItByItsInterpreter(@TempDir Path folder) throws Exception {
    Path script = Files.writeString(folder.resolve("mvn"), "#! /bin/sh -e\nexec java\n");
    Path other = Files.writeString(folder.resolve("other"), "\u007fELF");

    assertThat(DyldProtection.objection(script).orElseThrow())
        .contains("from /bin/sh, which runs the script " + script);
    assertThat(DyldProtection.objection(other)).isEmpty();
    assertThat(DyldProtection.objection(folder.resolve("absent"))).isEmpty();
  }
}
