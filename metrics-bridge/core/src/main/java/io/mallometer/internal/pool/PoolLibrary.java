package io.mallometer.internal.pool;

import java.util.List;

/**
 * Reads the pools of one library.
 *
 * <p>An implementation does not change the application. It loads and initializes no class of the
 * application, sets no field unless a setting requests this, and refers to objects, classes and
 * class loaders of the application by weak references only. It looks up single members by method
 * handles, because reflection would load the types of all members of a class. The poller's thread
 * calls it.
 */
interface PoolLibrary {

  /**
   * Returns the ends of the names of the classes that {@link #read} needs, each with a leading dot.
   */
  List<String> classes();

  /**
   * Reads the pools of all copies of the library.
   *
   * @param found the initialized classes of the process whose names have one of these ends
   * @param look the beginning and the CPU time limit of this reading
   */
  List<PoolReading> read(List<Class<?>> found, Look look);
}
