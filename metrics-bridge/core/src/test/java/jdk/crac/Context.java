package jdk.crac;

/**
 * Replaces the class of this name of a JVM with CRaC.
 *
 * @param <R> the type of registered resources
 */
public abstract class Context<R extends Resource> implements Resource {

  /** Creates a context of the JVM. */
  protected Context() {}

  /** Registers a resource. It is notified only as long as something else refers to it. */
  public abstract void register(R resource);
}
