package io.mallometer.spring;

import io.mallometer.Mallometer;
import io.mallometer.view.Answer;
import io.mallometer.view.Answer.Outcome;
import io.mallometer.view.Answer.Told;
import io.mallometer.view.RefusalView;
import io.mallometer.view.View;
import io.mallometer.view.Views;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

/**
 * The Actuator endpoint {@code nativememory}: the latest snapshot, for people and scripts. Only
 * carries what {@link Views} answers.
 *
 * <p>Read-only unless {@code management.endpoint.nativememory.access=unrestricted} says otherwise:
 * an operator who exposes it for its figures has not thereby allowed others to trim or to
 * acknowledge.
 */
@Endpoint(id = NativeMemoryEndpoint.NAME, defaultAccess = Access.READ_ONLY)
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
  static final String ZIP = "application/zip";

  static final String NAME = "nativememory";
  static final EndpointId ID = EndpointId.of(NAME);
  static final Access DEFAULT_ACCESS = Access.READ_ONLY;

  /** What a request is answered that would change something where the access forbids it. */
  static final Told ONLY_SHOWN =
      new Told(
          Outcome.NOT_ALLOWED,
          new RefusalView(
              "this endpoint is read-only: management.endpoint.nativememory.access=unrestricted"
                  + " allows POST to trim and owners/NUMBER, and POST and DELETE to leaks/NAME. GET"
                  + " saves evidence, too"));

  private final Views views;
  private final Supplier<Map<String, String>> settings;

  public NativeMemoryEndpoint(Mallometer mallometer) {
    this(mallometer, false, Map::of);
  }

  /**
   * @param trimAllowed whether the endpoint's access lets a trim through, which a page has to know
   * @param settings the application's {@code mallometer.*}, for the evidence
   */
  NativeMemoryEndpoint(
      Mallometer mallometer, boolean trimAllowed, Supplier<Map<String, String>> settings) {
    this.views = new Views(mallometer, trimAllowed);
    this.settings = settings;
  }

  /** The latest snapshot; makes no native call. */
  @ReadOperation
  public Object nativeMemory() {
    return body(views.nativeMemory());
  }

  /**
   * Returns the division of the memory at the latest poll.
   *
   * @param view one of {@link Views#NAMES}
   * @return null, which the web answers with 404, for any other
   */
  @ReadOperation(produces = {JSON, PLAIN_JSON, HTML, TEXT, BYTES, ZIP})
  public @Nullable Object nativeMemory(@Selector String view) {
    return views.view(view).map(NativeMemoryEndpoint::body).orElse(null);
  }

  /**
   * Asks the allocator to give free memory back; may take seconds.
   *
   * @param view {@code trim}
   * @return null for any other
   */
  @WriteOperation(produces = {JSON, PLAIN_JSON, ZIP})
  public @Nullable Object trim(@Selector String view) {
    return view.equals("trim") ? body(views.trim().view()) : null;
  }

  /**
   * Acknowledges the call sites of a name, whatever their verdict; or searches the Java heap for
   * the objects that hold the memory of a call site.
   *
   * @param view {@code leaks} or {@code owners}
   * @param site the name; one that ends in {@code *} stands for all names that begin so. For {@code
   *     owners} the call site's number
   * @return the verdicts, or who holds the memory; null for any other view
   */
  @WriteOperation
  public @Nullable Object acknowledge(@Selector String view, @Selector String site) {
    return switch (view) {
      case "leaks" -> body(views.acknowledgeLeak(site, true).view());
      case "owners" -> body(views.owners(site, Map.of()).view());
      default -> null;
    };
  }

  /** Withdraws an acknowledgement. */
  @DeleteOperation
  public @Nullable Object suspect(@Selector String view, @Selector String site) {
    return view.equals("leaks") ? body(views.acknowledgeLeak(site, false).view()) : null;
  }

  Views views() {
    return views;
  }

  /** All that is known, as a zip. */
  Answer evidence() {
    return views.evidence(settings.get());
  }

  /** Written by the Actuator's own mapper, not by one that the application has changed. */
  static Object body(View view) {
    return view.tree() instanceof Map<?, ?> map ? OperationResponseBody.of(map) : view.tree();
  }
}
