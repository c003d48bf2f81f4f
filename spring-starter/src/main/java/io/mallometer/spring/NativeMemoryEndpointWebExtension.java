package io.mallometer.spring;

import io.mallometer.page.Page;
import io.mallometer.spring.CurrentRequest.ViewRequest;
import io.mallometer.view.Answer;
import io.mallometer.view.Views;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.InputStreamResource;
import org.springframework.util.MimeType;

/**
 * Extends the endpoint over HTTP with query parameters, reports in formats of other tools, and an
 * HTTP status for each outcome.
 */
@EndpointWebExtension(endpoint = NativeMemoryEndpoint.class)
public final class NativeMemoryEndpointWebExtension {

  private static final MimeType JSON = MimeType.valueOf(NativeMemoryEndpoint.JSON);

  private final NativeMemoryEndpoint endpoint;

  public NativeMemoryEndpointWebExtension(NativeMemoryEndpoint endpoint) {
    this.endpoint = endpoint;
  }

  /**
   * Returns the latest snapshot.
   *
   * @return 400 with the reason if there are parameters
   */
  @ReadOperation
  public WebEndpointResponse<Object> nativeMemory() {
    return ViewRequest.of(NativeMemoryEndpoint.NAME)
        .refusal()
        .map(NativeMemoryEndpointWebExtension::json)
        .orElseGet(
            () ->
                new WebEndpointResponse<>(
                    endpoint.nativeMemory(), WebEndpointResponse.STATUS_OK, JSON));
  }

  /**
   * Returns the answer for a name, which is one of:
   *
   * <ul>
   *   <li>the name of a view
   *   <li>{@code collapsed}, {@code flamegraph}, {@code pprof}, {@code dhat} or {@code table}: a
   *       report of call sites
   *   <li>{@code page}: the HTML page
   *   <li>{@code evidence}: the evidence bundle as a zip
   * </ul>
   *
   * <p>The parameters of the query are those of {@link Views#answer}.
   *
   * @param view the name; 404 for an unknown one
   * @return 400 with the reason if a parameter is unknown or invalid; 501 with the reason if there
   *     are no call sites to report
   */
  @ReadOperation(
      produces = {
        NativeMemoryEndpoint.JSON,
        NativeMemoryEndpoint.PLAIN_JSON,
        NativeMemoryEndpoint.HTML,
        NativeMemoryEndpoint.TEXT,
        NativeMemoryEndpoint.BYTES,
        NativeMemoryEndpoint.ZIP
      })
  public WebEndpointResponse<Object> view(@Selector String view) {
    return answer(ViewRequest.of(view));
  }

  private WebEndpointResponse<Object> answer(ViewRequest asked) {
    if (asked.view().equals("page")) {
      return page();
    }
    Optional<Answer.Told> refusal = asked.refusal();
    if (refusal.isPresent()) {
      return json(refusal.get());
    }
    return response(
        asked.view().equals(Views.EVIDENCE)
            ? endpoint.evidence()
            : endpoint.views().answer(asked.view(), asked.parameters()));
  }

  /**
   * Returns several views in one response. Mallometer's web page polls its views in this way.
   *
   * @param view must be {@code views}; for any other value the status is 404
   * @param name the names of the views, see {@link Views#together}
   */
  @ReadOperation(produces = {NativeMemoryEndpoint.JSON, NativeMemoryEndpoint.PLAIN_JSON})
  public WebEndpointResponse<Object> together(@Selector String view, @Selector String name) {
    Optional<Answer.Told> refusal =
        view.equals(Views.TOGETHER) ? ViewRequest.of(view).refusal() : Optional.empty();
    if (refusal.isPresent()) {
      return json(refusal.get());
    }
    return response(
        view.equals(Views.TOGETHER) ? endpoint.views().together(name) : Views.unknown(view));
  }

  private static WebEndpointResponse<Object> page() {
    byte[] page = CurrentRequest.token().map(Page::bytes).orElseGet(Page::bytes);
    return bytes(page, Page.CONTENT_TYPE);
  }

  private static WebEndpointResponse<Object> bytes(byte[] bytes, String contentType) {
    return new WebEndpointResponse<>(
        new ByteArrayResource(bytes), WebEndpointResponse.STATUS_OK, MimeType.valueOf(contentType));
  }

  private static WebEndpointResponse<Object> response(Answer answer) {
    if (answer instanceof Answer.Exported export) {
      return export.body() instanceof Answer.Written written
          ? bytes(written.bytes(), export.contentType())
          : new WebEndpointResponse<>(
              new InputStreamResource(() -> ReportStream.of(export.body())),
              WebEndpointResponse.STATUS_OK,
              MimeType.valueOf(export.contentType()));
    }
    return json((Answer.Told) answer);
  }

  private static WebEndpointResponse<Object> json(Answer.Told told) {
    return new WebEndpointResponse<>(
        NativeMemoryEndpoint.body(told.view()), told.outcome().status(), JSON);
  }

  /**
   * Trims the allocator's memory, or returns the {@code evidence} zip, as a GET request does.
   *
   * @param view {@code trim} or {@code evidence}; 404 for any other name
   * @return 200 after a trim, 403 for a request from another site's page, 429 if the previous trim
   *     was too recent, 501 without the native library
   */
  @WriteOperation(
      produces = {
        NativeMemoryEndpoint.JSON,
        NativeMemoryEndpoint.PLAIN_JSON,
        NativeMemoryEndpoint.ZIP
      })
  public WebEndpointResponse<Object> trim(@Selector String view) {
    if (view.equals(Views.EVIDENCE)) {
      return response(endpoint.evidence());
    }
    return changing(view.equals("trim"), () -> endpoint.views().trim());
  }

  /**
   * Acknowledges call sites, or searches the Java heap for the owners of a call site's memory. The
   * search pauses the program.
   *
   * @param view {@code leaks} to acknowledge, {@code owners} to search; 404 for any other name
   * @param name for {@code leaks} the name of the call sites, whatever their verdict; a final
   *     {@code *} stands for any text. For {@code owners} the number of the call site, see {@link
   *     Views#owners}
   * @return 200 with the verdicts or the owners, 403 for a request from another site's page, 404 if
   *     no call site has the name, 429 if the search is refused, 501 if it is impossible
   */
  @WriteOperation
  public WebEndpointResponse<Object> acknowledge(@Selector String view, @Selector String name) {
    return switch (view) {
      case "leaks" -> changing(true, () -> endpoint.views().acknowledgeLeak(name, true));
      case "owners" -> changing(true, () -> owners(name));
      default -> changing(false, () -> Views.nothingToChange());
    };
  }

  /** Withdraws an acknowledgement. */
  @DeleteOperation
  public WebEndpointResponse<Object> suspect(@Selector String view, @Selector String name) {
    return changing(view.equals("leaks"), () -> endpoint.views().acknowledgeLeak(name, false));
  }

  /**
   * Searches for owners. Reads {@code links} from the query. A parameter of the operation would
   * make Spring Boot refuse every POST whose body is not JSON.
   */
  private Answer.Told owners(String name) {
    ViewRequest asked = ViewRequest.of(name);
    @Nullable String links = asked.parameters().get("links");
    return endpoint.views().owners(asked.view(), links == null ? Map.of() : Map.of("links", links));
  }

  private static WebEndpointResponse<Object> changing(
      boolean isKnown, Supplier<Answer.Told> change) {
    return json(
        isKnown ? CurrentRequest.foreignOrigin().orElseGet(change) : Views.nothingToChange());
  }
}
