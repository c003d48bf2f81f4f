package jdk.crac;

/** The interface of a JVM with CRaC. */
public interface Resource {

  /** Prepares for a checkpoint. */
  void beforeCheckpoint(Context<? extends Resource> context) throws Exception;

  /** Continues after the process was restored, or the checkpoint failed. */
  void afterRestore(Context<? extends Resource> context) throws Exception;
}
