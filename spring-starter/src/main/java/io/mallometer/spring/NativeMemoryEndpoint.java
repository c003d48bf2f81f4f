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

  /**
   * What the views may be. Each answer names its own type; without the others here a client that
   * wants nothing but HTML would be refused the flame graph.
   */
  static final String JSON = "application/vnd.spring-boot.actuator.v3+json";

  static final String PLAIN_JSON = "application/json";
  static final String HTML = "text/html";
  static final String TEXT = "text/plain";
  static final String BYTES = "application/octet-stream";

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
   * @param view {@code breakdown}, {@code cgroup}, {@code budget}, {@code allocator}, {@code
   *     history} or {@code sites}
   * @return null, which the web answers with 404, for any other
   */
  @ReadOperation(produces = {JSON, PLAIN_JSON, HTML, TEXT, BYTES})
  public @Nullable OperationResponseBody nativeMemory(@Selector String view) {
    Snapshot snapshot = mallometer.snapshot();
    ProcessMemory memory = snapshot.memory();
    return switch (view) {
      case "breakdown" -> BreakdownDescriptor.of(memory);
      case "cgroup" -> CgroupDescriptor.of(memory);
      case "budget" -> BudgetDescriptor.of(memory);
      case "allocator" -> AllocatorDescriptor.of(snapshot);
      case "history" -> HistoryDescriptor.of(mallometer);
      case "sites" -> sites(SiteQuery.DEFAULT);
      default -> null;
    };
  }

  /**
   * Who allocated what, and what of it is live.
   *
   * @throws IllegalArgumentException with the reason, if the query makes no sense
   */
  OperationResponseBody sites(SiteQuery query) {
    return query.answer(mallometer);
  }

  Mallometer mallometer() {
    return mallometer;
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
