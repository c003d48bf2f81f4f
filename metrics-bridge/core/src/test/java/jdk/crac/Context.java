package jdk.crac;

/**
 * The class of a JVM with CRaC.
 *
 * @param <R> the type of registered resources
 */
public abstract class Context<R extends Resource> implements Resource {

  /** Creates a context of the JVM. */
  protected Context() {}

  /** Registers a resource, which is notified while something else refers to it. */
  public abstract void register(R resource);
}
