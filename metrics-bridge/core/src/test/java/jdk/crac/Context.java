package jdk.crac;

/**
 * As a JVM with CRaC has it.
 *
 * @param <R> what is registered
 */
public abstract class Context<R extends Resource> implements Resource {

  /** For the JVM's own. */
  protected Context() {}

  /** Has a resource told, while something else refers to it. */
  public abstract void register(R resource);
}
