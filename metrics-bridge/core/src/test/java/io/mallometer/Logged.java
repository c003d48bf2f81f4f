package io.mallometer;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Captures the messages of one logger until closed, and keeps them from the console. */
public final class Logged extends Handler implements AutoCloseable {

  private final List<String> messages = new CopyOnWriteArrayList<>();
  private final List<Throwable> causes = new CopyOnWriteArrayList<>();
  private final Logger logger;

  public Logged(String name) {
    logger = Logger.getLogger(name);
    logger.addHandler(this);
    logger.setUseParentHandlers(false);
  }

  public List<String> messages() {
    return List.copyOf(messages);
  }

  public List<Throwable> causes() {
    return List.copyOf(causes);
  }

  @Override
  public void publish(LogRecord said) {
    messages.add(said.getMessage());
    if (said.getThrown() != null) {
      causes.add(said.getThrown());
    }
  }

  @Override
  public void flush() {
    // Messages are not buffered.
  }

  @Override
  public void close() {
    logger.removeHandler(this);
    logger.setUseParentHandlers(true);
  }
}
