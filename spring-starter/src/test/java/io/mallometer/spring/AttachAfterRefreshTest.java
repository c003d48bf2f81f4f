package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.FaceContract;
import io.mallometer.FakeMallometer;
import io.mallometer.model.AttachMode;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import io.mallometer.spring.ApplicationSettings.AttachSetting;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.support.GenericApplicationContext;

/**
 * Checks which contexts try to attach the library, and which threads are left. The fake library
 * refuses every attach.
 */
@ExtendWith(OutputCaptureExtension.class)
class AttachAfterRefreshTest {

  private static final AttachSetting AUTO = new AttachSetting(AttachMode.AUTO, "");

  private FakeMallometer mallometer =
      new FakeMallometer(FaceContract.counters(true, 32_768), FaceContract.selfReport());

  private void refusesBecause(String reason) {
    mallometer.setStatus(new Status(State.UNAVAILABLE, reason, ""));
    mallometer.poll();
  }

  @AfterEach
  void noThreadIsLeft() {
    mallometer.close();
    assertThat(Thread.getAllStackTraces().keySet())
        .noneMatch(thread -> thread.getName().equals(AttachAfterRefresh.THREAD));
  }

  @Test
  void contextsOfOneProcessSayOnceWhyNothingIsCounted(CapturedOutput output) throws Exception {
    refusesBecause("two contexts");

    for (int i = 0; i < 2; i++) {
      try (GenericApplicationContext context = context(AUTO)) {
        context.refresh();
        awaitThread();
      }
    }

    assertThat(output.getAll().lines().filter(line -> line.contains("two contexts"))).hasSize(1);
  }

  @Test
  void contextThatIsRefreshedInThisOneDoesNotAttach(CapturedOutput output) throws Exception {
    refusesBecause("child");

    try (GenericApplicationContext parent = new GenericApplicationContext()) {
      AttachAfterRefresh attach = new AttachAfterRefresh(mallometer, AUTO, parent);
      parent.refresh();
      parent.addApplicationListener(attach);
      try (GenericApplicationContext child = new GenericApplicationContext(parent)) {
        child.refresh();
      }
      awaitThread();
      assertThat(output).doesNotContain("child");

      parent.publishEvent(new ContextRefreshedEvent(parent));
      awaitThread();
      attach.close();
      assertThat(output).contains("Native memory is not counted: child");
    }
  }

  @Test
  void nothingIsTriedWhereItIsSwitchedOff(CapturedOutput output) {
    mallometer.setStatus(new Status(State.UNAVAILABLE, "absent", "LD_PRELOAD=/x java"));
    mallometer.poll();

    try (GenericApplicationContext context =
        context(new AttachSetting(AttachMode.OFF, "mallometer.attach=off"))) {
      context.refresh();
      assertThat(output).contains("not counted: mallometer.attach=off, and absent. What to do: ");
    }
  }

  @Test
  void contextsOfOneProcessSayOnceThatItIsCountedAndWhereThePageIs(CapturedOutput output) {
    mallometer.poll();

    for (int port : new int[] {8080, 8081}) {
      try (GenericApplicationContext context = context(AUTO)) {
        context.registerBean(PageAddress.class, () -> () -> "http://localhost:" + port + "/page");
        context.refresh();
      }
    }

    assertThat(output.getAll().lines().filter(line -> line.contains("Native memory is counted")))
        .singleElement()
        .asString()
        .endsWith(" (preloaded); page at http://localhost:8080/page");
  }

  private static void awaitThread() throws InterruptedException {
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().equals(AttachAfterRefresh.THREAD)) {
        thread.join(60_000);
      }
    }
  }

  private GenericApplicationContext context(AttachSetting setting) {
    GenericApplicationContext context = new GenericApplicationContext();
    context.registerBean(
        AttachAfterRefresh.class, () -> new AttachAfterRefresh(mallometer, setting, context));
    return context;
  }
}
