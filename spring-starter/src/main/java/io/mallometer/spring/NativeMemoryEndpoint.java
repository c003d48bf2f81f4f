package io.mallometer.spring;

import io.mallometer.Mallometer;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

/** The Actuator endpoint {@code nativememory}: the latest snapshot, for people and scripts. */
@Endpoint(id = "nativememory")
public final class NativeMemoryEndpoint {

  private final Mallometer mallometer;

  public NativeMemoryEndpoint(Mallometer mallometer) {
    this.mallometer = mallometer;
  }

  /** The latest snapshot; makes no native call. */
  @ReadOperation
  public NativeMemoryDescriptor nativeMemory() {
    return NativeMemoryDescriptor.of(mallometer.snapshot(), mallometer.clock());
  }
}
