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
   * does not wait for many older ones. Drops the oldest task if {@code waiting} tasks wait already.
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
   * Creates a daemon thread with neither the thread-locals nor the context class loader of its
   * creator.
   */
  static Thread daemon(String name, Runnable work) {
    Thread thread = new Thread(null, work, name, 0, false);
    thread.setDaemon(true);
    thread.setContextClassLoader(WorkerPool.class.getClassLoader());
    return thread;
  }

  /**
   * Accepts a task; returns false if the pool is full or closed, or no thread can start. A pool of
   * {@link #latestFirst} is never full: it drops its oldest task.
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
