package jdk.crac;

/**
 * Stands in for the class of the same name that a JVM with CRaC has.
 *
 * @param <R> the type of registered resources
 */
public abstract class Context<R extends Resource> implements Resource {

  protected Context() {}

  /** Registers a resource. The context has only a weak reference to the resource. */
  public abstract void register(R resource);
}
