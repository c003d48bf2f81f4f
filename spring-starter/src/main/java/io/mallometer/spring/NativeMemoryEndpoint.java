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
 * The Actuator endpoint {@code nativememory}, which passes on the answers of {@link Views}.
 *
 * <p>The endpoint is read-only unless {@code management.endpoint.nativememory.access} is {@code
 * unrestricted}. By default an exposed endpoint therefore refuses trims and acknowledgements.
 */
@Endpoint(id = NativeMemoryEndpoint.NAME, defaultAccess = Access.READ_ONLY)
public final class NativeMemoryEndpoint {

  /**
   * The media types of the views. An operation must list all of them, because Spring Boot would
   * otherwise refuse a client that accepts only HTML.
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

  /** The answer to a request for a change if the endpoint is read-only. */
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
   * @param trimAllowed whether the endpoint's access allows a trim; the web page offers a trim only
   *     then
   * @param settings the application's {@code mallometer.*} properties, for the zip file of {@link
   *     #evidence}
   */
  NativeMemoryEndpoint(
      Mallometer mallometer, boolean trimAllowed, Supplier<Map<String, String>> settings) {
    this.views = new Views(mallometer, trimAllowed);
    this.settings = settings;
  }

  /** Returns the latest snapshot; makes no native call. */
  @ReadOperation
  public Object nativeMemory() {
    return body(views.nativeMemory());
  }

  /**
   * Returns a view of the latest poll.
   *
   * @param view one of {@link Views#NAMES}
   * @return null for any other name; Spring Boot then answers with 404
   */
  @ReadOperation(produces = {JSON, PLAIN_JSON, HTML, TEXT, BYTES, ZIP})
  public @Nullable Object nativeMemory(@Selector String view) {
    return views.view(view).map(NativeMemoryEndpoint::body).orElse(null);
  }

  /**
   * Asks the allocator to return free memory to the system; may take seconds.
   *
   * @param view {@code trim}
   * @return null for any other name
   */
  @WriteOperation(produces = {JSON, PLAIN_JSON, ZIP})
  public @Nullable Object trim(@Selector String view) {
    return view.equals("trim") ? body(views.trim().view()) : null;
  }

  /**
   * Acknowledges call sites, or searches the Java heap for the owners of a call site's memory.
   *
   * @param view {@code leaks} to acknowledge, {@code owners} to search
   * @param site for {@code leaks} the name of the call sites, whatever their verdict; a final
   *     {@code *} stands for any text. For {@code owners} the number of the call site
   * @return the verdicts or the owners; null for any other view
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

  Answer evidence() {
    return views.evidence(settings.get());
  }

  /**
   * Returns the body of an answer. An {@code OperationResponseBody} makes Spring Boot use the
   * Actuator's own JSON mapper, which the application cannot customize.
   */
  static Object body(View view) {
    return view.tree() instanceof Map<?, ?> map ? OperationResponseBody.of(map) : view.tree();
  }
}
