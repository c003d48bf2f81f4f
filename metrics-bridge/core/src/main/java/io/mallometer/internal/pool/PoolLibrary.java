package io.mallometer.internal.pool;

import java.util.List;

/**
 * Reads the pools of one library.
 *
 * <p>A reader only reads: it loads and initializes no class of the application, sets no field
 * unless a setting says so, and keeps objects, classes and class loaders of the application by weak
 * references only. It looks up single members by method handles, because reflection would load the
 * types of all members of a class. Called by the poller's thread.
 */
interface PoolLibrary {

  /** Returns the ends of the names of classes that {@link #read} needs, with a leading dot. */
  List<String> classes();

  /**
   * Reads the pools of all copies of the library.
   *
   * @param found the initialized classes of the process with one of the names
   * @param look the time of this look and its end
   */
  List<PoolReading> read(List<Class<?>> found, Look look);
}
