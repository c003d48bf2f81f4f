package io.mallometer.agent.payload.http;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Daemon threads for one kind of work. They start when there is work, and end after 10 s without
 * work.
 */
public final class WorkerPool implements AutoCloseable {

  private static final int IDLE_SECONDS = 10;

  private final ThreadPoolExecutor threads;

  /**
   * Creates a worker pool.
   *
   * @param name the name of its threads
   * @param threads the largest number of threads
   * @param waiting the largest number of waiting tasks
   */
  public WorkerPool(String name, int threads, int waiting) {
    this(name, threads, new LinkedBlockingQueue<>(waiting));
  }

  private WorkerPool(String name, int threads, BlockingQueue<Runnable> waiting) {
    this.threads =
        new ThreadPoolExecutor(
            threads, threads, IDLE_SECONDS, TimeUnit.SECONDS, waiting, work -> daemon(name, work));
    this.threads.allowCoreThreadTimeOut(true);
  }

  /**
   * Creates a worker pool with one thread that runs the latest task first, so that a new client
   * does not wait for the tasks of many older ones. Drops the oldest task if too many wait.
   *
   * @param waiting the largest number of waiting tasks
   */
  static WorkerPool latestFirst(String name, int waiting) {
    return new WorkerPool(
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

  /**
   * Creates a thread that inherits neither thread-locals nor the context class loader of the thread
   * that happens to create it.
   */
  static Thread daemon(String name, Runnable work) {
    Thread thread = new Thread(null, work, name, 0, false);
    thread.setDaemon(true);
    thread.setContextClassLoader(WorkerPool.class.getClassLoader());
    return thread;
  }

  /**
   * Accepts a task; returns false if too many wait, no thread can be started, or the pool is
   * closed. A pool of {@link #latestFirst} drops its oldest task if too many wait.
   */
  boolean takes(Runnable work) {
    try {
      threads.execute(work);
      return true;
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      return false;
    }
  }

  /** Interrupts the running tasks and accepts no more. */
  @Override
  public void close() {
    threads.shutdownNow();
  }
}
