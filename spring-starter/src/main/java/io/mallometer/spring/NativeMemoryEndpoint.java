package io.mallometer.spring;

import io.mallometer.Mallometer;
import io.mallometer.ProcessMemory;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;

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

  /**
   * Where the memory goes, at the latest poll.
   *
   * @param view {@code breakdown}, {@code cgroup} or {@code budget}
   * @return null, which the web answers with 404, for any other
   */
  @ReadOperation
  public @Nullable OperationResponseBody nativeMemory(@Selector String view) {
    ProcessMemory memory = mallometer.snapshot().memory();
    return switch (view) {
      case "breakdown" -> BreakdownDescriptor.of(memory);
      case "cgroup" -> CgroupDescriptor.of(memory);
      case "budget" -> BudgetDescriptor.of(memory);
      default -> null;
    };
  }
}
