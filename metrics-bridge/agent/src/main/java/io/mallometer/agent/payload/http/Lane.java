package io.mallometer.agent.payload.http;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Daemon threads for one kind of work. They come with it and end when there was none for long. */
public final class Lane implements AutoCloseable {

  private static final int IDLE_SECONDS = 10;

  private final ThreadPoolExecutor threads;

  /**
   * A lane.
   *
   * @param name of its threads
   * @param threads how many at most
   * @param waiting how much work may wait for them
   */
  public Lane(String name, int threads, int waiting) {
    this(name, threads, new LinkedBlockingQueue<>(waiting));
  }

  private Lane(String name, int threads, BlockingQueue<Runnable> waiting) {
    this.threads =
        new ThreadPoolExecutor(
            threads, threads, IDLE_SECONDS, TimeUnit.SECONDS, waiting, work -> daemon(name, work));
    this.threads.allowCoreThreadTimeOut(true);
  }

  /**
   * A lane of one thread, on which the latest work is done first: among many who have come to keep
   * it busy, whoever comes now does not wait for all of them. Where too much waits, the oldest is
   * given up.
   *
   * @param waiting how much work may wait
   */
  static Lane latestFirst(String name, int waiting) {
    return new Lane(
        name,
        1,
        new LinkedBlockingDeque<>() {
          @Override
          public boolean offer(Runnable work) {
            while (size() >= waiting) {
              pollLast();
            }
            return offerFirst(work);
          }
        });
  }

  /** A thread that takes nothing over from the thread that happens to start it. */
  static Thread daemon(String name, Runnable work) {
    Thread thread = new Thread(null, work, name, 0, false);
    thread.setDaemon(true);
    thread.setContextClassLoader(Lane.class.getClassLoader());
    return thread;
  }

  /** Takes work over; false if too much waits already, or there can be no thread for it. */
  boolean takes(Runnable work) {
    try {
      threads.execute(work);
      return true;
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      return false;
    }
  }

  /** Takes no more work. */
  @Override
  public void close() {
    threads.shutdownNow();
  }
}
