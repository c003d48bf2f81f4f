package jdk.crac;

/** Replaces the interface of this name of a JVM with CRaC. */
public interface Resource {

  /** Prepares for a checkpoint. */
  void beforeCheckpoint(Context<? extends Resource> context) throws Exception;

  /** Continues after the process was restored, or the checkpoint failed. */
  void afterRestore(Context<? extends Resource> context) throws Exception;
}
