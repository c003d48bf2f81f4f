package io.mallometer.preload;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.Mallometer;
import io.mallometer.model.SelfReport;
import io.mallometer.model.Status;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Has this JVM count, by an attach where the build asks for one; else it is preloaded. */
public final class Counted implements BeforeAllCallback {

  /** The {@link SelfReport#mode()} that the build asks for. */
  static final String MODE =
      Boolean.getBoolean("mallometer.tests.attach") ? SelfReport.ATTACHED : SelfReport.PRELOAD;

  @Override
  public void beforeAll(ExtensionContext context) {
    if (MODE.equals(SelfReport.ATTACHED)) {
      try (Mallometer mallometer = Mallometer.open()) {
        Status status = mallometer.counting().attach();
        assertThat(status.active()).as(status.toString()).isTrue();
      }
    }
  }
}
