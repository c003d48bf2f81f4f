package io.mallometer.spring;

import io.mallometer.page.Page;
import io.mallometer.view.Answer;
import io.mallometer.view.Views;
import java.util.HashMap;
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
 * Operations that only the web has: parameters of a query, reports in formats of other tools, and
 * an HTTP status for the outcome of a trim.
 */
@EndpointWebExtension(endpoint = NativeMemoryEndpoint.class)
public final class NativeMemoryEndpointWebExtension {

  private static final MimeType JSON = MimeType.valueOf(NativeMemoryEndpoint.JSON);

  private final NativeMemoryEndpoint endpoint;

  public NativeMemoryEndpointWebExtension(NativeMemoryEndpoint endpoint) {
    this.endpoint = endpoint;
  }

  /**
   * The latest snapshot.
   *
   * @return 400 with the reason if there are parameters
   */
  @ReadOperation
  public WebEndpointResponse<Object> nativeMemory() {
    return ForeignParameters.refusal(NativeMemoryEndpoint.NAME)
        .map(NativeMemoryEndpointWebExtension::json)
        .orElseGet(
            () ->
                new WebEndpointResponse<>(
                    endpoint.nativeMemory(), WebEndpointResponse.STATUS_OK, JSON));
  }

  /**
   * A view of the endpoint, or call sites as {@code collapsed}, {@code flamegraph}, {@code pprof},
   * {@code dhat} or {@code table}, or {@code page}, which shows all of them to people, or {@code
   * evidence}, all of it as a zip.
   *
   * <p>Spring Boot 3.5 tells optional parameters by Spring's own annotation, 4.x by JSpecify's.
   *
   * @param view which; anything else is 404
   * @param sort see {@link io.mallometer.view.SiteQuery}, as is all that follows
   * @param metric what sizes mean in a report that shows one figure: {@code live}, {@code
   *     live-objects}, {@code allocated} or {@code allocated-objects}
   * @param all whether {@code leaks} are to have healthy sites, too: {@code true} or {@code false}
   * @param format of {@code leaks}: {@code json}, {@code text} or {@code html}
   * @param at of {@code sites} and reports: see {@link io.mallometer.view.SiteQuery}
   * @param seconds of {@code pprof}: over how many seconds before now the difference is wanted
   * @return 400 with the reason, if a parameter makes no sense, or the view does not have it; 501
   *     with the reason, if there are no call sites to report
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
  public WebEndpointResponse<Object> view(
      @Selector String view,
      @org.springframework.lang.Nullable @Nullable String sort,
      @org.springframework.lang.Nullable @Nullable String group,
      @org.springframework.lang.Nullable @Nullable String filter,
      @org.springframework.lang.Nullable @Nullable String owner,
      @org.springframework.lang.Nullable @Nullable String limit,
      @org.springframework.lang.Nullable @Nullable String from,
      @org.springframework.lang.Nullable @Nullable String to,
      @org.springframework.lang.Nullable @Nullable String metric,
      @org.springframework.lang.Nullable @Nullable String all,
      @org.springframework.lang.Nullable @Nullable String format,
      @org.springframework.lang.Nullable @Nullable String at,
      @org.springframework.lang.Nullable @Nullable String seconds) {
    if (view.equals("page")) {
      return page();
    }
    Optional<Answer.Told> refusal = ForeignParameters.refusal(view);
    if (refusal.isPresent()) {
      return json(refusal.get());
    }
    if (view.equals(Views.EVIDENCE)) {
      return response(endpoint.evidence());
    }
    Map<String, String> parameters = new HashMap<>();
    put(parameters, "sort", sort);
    put(parameters, "group", group);
    put(parameters, "filter", filter);
    put(parameters, "owner", owner);
    put(parameters, "limit", limit);
    put(parameters, "from", from);
    put(parameters, "to", to);
    put(parameters, "metric", metric);
    put(parameters, "all", all);
    put(parameters, "format", format);
    put(parameters, "at", at);
    put(parameters, "seconds", seconds);
    return response(endpoint.views().answer(view, parameters));
  }

  /**
   * Returns several views in one body, as the page polls them. Without parameters: for each that
   * may be missing Spring Boot reads annotations at each request.
   *
   * @param view {@code views}; anything else is 404
   * @param name which of them, see {@link Views#together}
   */
  @ReadOperation(produces = {NativeMemoryEndpoint.JSON, NativeMemoryEndpoint.PLAIN_JSON})
  public WebEndpointResponse<Object> together(@Selector String view, @Selector String name) {
    Optional<Answer.Told> refusal =
        view.equals(Views.TOGETHER) ? ForeignParameters.refusal(view) : Optional.empty();
    if (refusal.isPresent()) {
      return json(refusal.get());
    }
    return response(
        view.equals(Views.TOGETHER) ? endpoint.views().together(name) : Views.unknown(view));
  }

  private static void put(Map<String, String> parameters, String name, @Nullable String value) {
    if (value != null) {
      parameters.put(name, value);
    }
  }

  private static WebEndpointResponse<Object> page() {
    byte[] page = SecurityToken.ofThisRequest().map(Page::bytes).orElseGet(Page::bytes);
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
   * Trims, or saves the evidence as GET does.
   *
   * @param view {@code trim} or {@code evidence}; anything else is 404
   * @return 200 if it was done, 403 if another site's page asks, 429 if it was too early, 501
   *     without the native library
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
   * Acknowledges the call sites of a name, whatever their verdict; or searches the Java heap for
   * the objects that hold the memory of a call site, which stops the program.
   *
   * @param view {@code leaks} or {@code owners}; anything else is 404
   * @param name of the sites; one that ends in {@code *} stands for all names that begin so. For
   *     {@code owners} the call site's number, see {@link Views#owners}
   * @return 200 with the verdicts or the holders, 403 if another site's page asks, 404 if no call
   *     site has the name, 429 if the search is refused, 501 if it is not possible
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
   * Searches with the links of the query. They are no parameter of the operation: with one, Spring
   * Boot would refuse each POST that does not call its body JSON.
   */
  private Answer.Told owners(String name) {
    String[] parts = name.split(ReactiveEndpointFilter.LINKS, 2);
    @Nullable String links = parts.length > 1 ? parts[1] : ForeignParameters.value("links");
    return endpoint.views().owners(parts[0], links == null ? Map.of() : Map.of("links", links));
  }

  private static WebEndpointResponse<Object> changing(
      boolean isKnown, Supplier<Answer.Told> change) {
    return json(isKnown ? ServletOrigin.refusal().orElseGet(change) : Views.nothingToChange());
  }
}
