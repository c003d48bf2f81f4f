package io.mallometer.preload;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.Mallometer;
import io.mallometer.model.SelfReport;
import io.mallometer.model.Status;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Attaches the library to this JVM if the build selects the attached mode. In the preloaded mode,
 * the extension does nothing.
 */
public final class Counted implements BeforeAllCallback {

  static final String MODE =
      Boolean.getBoolean("mallometer.tests.attach") ? SelfReport.ATTACHED : SelfReport.PRELOADED;

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
