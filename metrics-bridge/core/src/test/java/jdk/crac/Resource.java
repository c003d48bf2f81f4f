package jdk.crac;

public interface Resource {

  void beforeCheckpoint(Context<? extends Resource> context) throws Exception;

  /** Continues after the process was restored, or the checkpoint failed. */
  void afterRestore(Context<? extends Resource> context) throws Exception;
}
