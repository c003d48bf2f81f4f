package io.mallometer.spring;

import io.mallometer.Mallometer;
import io.mallometer.ProcessMemory;
import io.mallometer.Snapshot;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

/**
 * The Actuator endpoint {@code nativememory}: the latest snapshot, for people and scripts.
 *
 * <p>Read-only unless {@code management.endpoint.nativememory.access=unrestricted} says otherwise:
 * whoever exposed it to look at figures has not thereby allowed others to trim.
 */
@Endpoint(id = "nativememory", defaultAccess = Access.READ_ONLY)
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
   * @param view {@code breakdown}, {@code cgroup}, {@code budget}, {@code allocator} or {@code
   *     history}
   * @return null, which the web answers with 404, for any other
   */
  @ReadOperation
  public @Nullable OperationResponseBody nativeMemory(@Selector String view) {
    Snapshot snapshot = mallometer.snapshot();
    ProcessMemory memory = snapshot.memory();
    return switch (view) {
      case "breakdown" -> BreakdownDescriptor.of(memory);
      case "cgroup" -> CgroupDescriptor.of(memory);
      case "budget" -> BudgetDescriptor.of(memory);
      case "allocator" -> AllocatorDescriptor.of(snapshot);
      case "history" -> HistoryDescriptor.of(mallometer);
      default -> null;
    };
  }

  /**
   * Asks the allocator to give free memory back; may take seconds.
   *
   * @param view {@code trim}
   * @return null for any other
   */
  @WriteOperation
  public @Nullable TrimDescriptor trim(@Selector String view) {
    return view.equals("trim") ? TrimDescriptor.of(mallometer.trim()) : null;
  }
}
