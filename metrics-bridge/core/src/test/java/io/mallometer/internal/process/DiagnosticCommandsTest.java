package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ChildJvm;
import java.util.OptionalLong;
import javax.management.MBeanServerFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("process")
class DiagnosticCommandsTest {

  @Test
  void whereThePackageIsOpenNoMBeanServerIsStarted() {
    String open =
        new ChildJvm()
            .options("--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED")
            .options("-XX:NativeMemoryTracking=summary")
            .run(AskAll.class)
            .output();
    String closed =
        new ChildJvm().options("-XX:NativeMemoryTracking=summary").run(AskAll.class).output();

    assertThat(open).contains("direct=true server=false");
    assertThat(closed).contains("direct=false server=true");
    for (String output : new String[] {open, closed}) {
      assertThat(output)
          .contains("HEAP: true", "CODE_CACHE: true", "NATIVE_MEMORY: true", "CLASS_LOADERS: true")
          .contains("MaxHeapSize=Option[value=%d, byDefault=false]".formatted(128 << 20))
          .contains("NoSuchOption=none");
    }
  }

  @Test
  void aRuntimeWithoutTheModuleAnswersNothing() {
    String output =
        new ChildJvm()
            .options("--limit-modules=java.base,java.logging,java.management,jdk.unsupported")
            .run(AskAll.class)
            .output();

    assertThat(output)
        .contains(
            "HEAP: false", "CODE_CACHE: false", "NATIVE_MEMORY: false", "CLASS_LOADERS: false")
        .contains("MaxHeapSize=none", "NoSuchOption=none", "facts known");
  }

  static final class AskAll {

    private AskAll() {}

    public static void main(String[] arguments) {
      for (DiagnosticCommands.Command command : DiagnosticCommands.Command.values()) {
        String answer = DiagnosticCommands.run(command);
        boolean parsed =
            switch (command) {
              case HEAP -> answer.contains("used");
              case CODE_CACHE -> !JvmRanges.parse("", answer).code().isEmpty();
              case CLASS_LOADERS -> !LoaderStatistics.parse(answer, OptionalLong.empty()).isEmpty();
              case NATIVE_MEMORY -> NativeMemoryTracking.parse(answer).isPresent();
            };
        System.out.println(command + ": " + parsed);
      }
      for (String option : new String[] {"MaxHeapSize", "NoSuchOption"}) {
        System.out.println(
            option + "=" + DiagnosticCommands.option(option).map(Object::toString).orElse("none"));
      }
      System.out.println(HotSpot.facts() == null ? "" : "facts known");
      System.out.println(
          "direct="
              + DiagnosticCommands.areDirect()
              + " server="
              + !MBeanServerFactory.findMBeanServer(null).isEmpty());
    }
  }
}
