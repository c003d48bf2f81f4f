package jdk.crac;

/** Stands in for the interface of the same name that a JVM with CRaC has. */
public interface Resource {

  /** Prepares for a checkpoint. */
  void beforeCheckpoint(Context<? extends Resource> context) throws Exception;

  /** Continues after the process was restored, or the checkpoint failed. */
  void afterRestore(Context<? extends Resource> context) throws Exception;
}
