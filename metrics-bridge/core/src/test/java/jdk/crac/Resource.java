package jdk.crac;

/** As a JVM with CRaC has it. */
public interface Resource {

  /** A checkpoint is about to be taken. */
  void beforeCheckpoint(Context<? extends Resource> context) throws Exception;

  /** The process was restored, or no checkpoint came about. */
  void afterRestore(Context<? extends Resource> context) throws Exception;
}
