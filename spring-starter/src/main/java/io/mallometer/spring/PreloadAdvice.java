package io.mallometer.spring;

import io.mallometer.State;
import io.mallometer.Status;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;

/**
 * The one line that an application logs when native memory is not counted: why, and what to do,
 * such as the command that starts it with the library. An application that counts logs nothing.
 */
final class PreloadAdvice implements SmartInitializingSingleton {

  private static final Log logger = LogFactory.getLog(PreloadAdvice.class);

  private final Status status;

  PreloadAdvice(Status status) {
    this.status = status;
  }

  @Override
  public void afterSingletonsInstantiated() {
    if (status.state() != State.ACTIVE) {
      logger.info(line(status));
    }
  }

  static String line(Status status) {
    String remedy = status.remedy().isEmpty() ? "" : ". What to do: " + status.remedy();
    return "Native memory is not counted: " + status.reason() + remedy;
  }
}
