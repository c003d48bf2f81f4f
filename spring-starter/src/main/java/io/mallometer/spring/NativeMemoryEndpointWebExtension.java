package io.mallometer.spring;

import io.mallometer.CallSites;
import io.mallometer.Choice;
import io.mallometer.TrimReport.Outcome;
import io.mallometer.report.ReportFormat;
import io.mallometer.report.ReportMetric;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;
import org.springframework.core.io.InputStreamResource;
import org.springframework.util.MimeType;

/**
 * What only the web has: parameters of a query, reports in formats of other tools, and an HTTP
 * status that says of a trim what the body says in words.
 */
@EndpointWebExtension(endpoint = NativeMemoryEndpoint.class)
public final class NativeMemoryEndpointWebExtension {

  private static final int NOT_IMPLEMENTED = 501;
  private static final MimeType JSON = MimeType.valueOf(NativeMemoryEndpoint.JSON);

  private final NativeMemoryEndpoint endpoint;

  public NativeMemoryEndpointWebExtension(NativeMemoryEndpoint endpoint) {
    this.endpoint = endpoint;
  }

  /**
   * A view of the endpoint, or call sites as {@code collapsed}, {@code flamegraph}, {@code pprof},
   * {@code dhat} or {@code table}.
   *
   * <p>Spring Boot 3.5 tells optional parameters by Spring's own annotation, 4.x by JSpecify's.
   *
   * @param view which; anything else is 404
   * @param sort see {@link SiteQuery}, as is all that follows
   * @param metric what sizes mean in a report that shows one figure: {@code live}, {@code
   *     live-objects}, {@code allocated} or {@code allocated-objects}
   * @return 400 with the reason, if a parameter makes no sense; 501 with the reason, if there are
   *     no call sites to report
   */
  @ReadOperation(
      produces = {
        NativeMemoryEndpoint.JSON,
        NativeMemoryEndpoint.PLAIN_JSON,
        NativeMemoryEndpoint.HTML,
        NativeMemoryEndpoint.TEXT,
        NativeMemoryEndpoint.BYTES
      })
  public WebEndpointResponse<Object> view(
      @Selector String view,
      @org.springframework.lang.Nullable @Nullable String sort,
      @org.springframework.lang.Nullable @Nullable String group,
      @org.springframework.lang.Nullable @Nullable String filter,
      @org.springframework.lang.Nullable @Nullable String limit,
      @org.springframework.lang.Nullable @Nullable String from,
      @org.springframework.lang.Nullable @Nullable String to,
      @org.springframework.lang.Nullable @Nullable String metric) {
    SiteQuery query = new SiteQuery(sort, group, filter, limit, from, to);
    try {
      Optional<ReportFormat> format = format(view);
      if (format.isPresent()) {
        return report(format.get(), metric, query);
      }
      return view.equals("sites")
          ? json(WebEndpointResponse.STATUS_OK, endpoint.sites(query))
          : plain(view);
    } catch (IllegalArgumentException e) {
      return json(WebEndpointResponse.STATUS_BAD_REQUEST, new RefusalDescriptor(e.getMessage()));
    }
  }

  private WebEndpointResponse<Object> plain(String view) {
    OperationResponseBody body = endpoint.nativeMemory(view);
    return body == null
        ? new WebEndpointResponse<>(WebEndpointResponse.STATUS_NOT_FOUND)
        : json(WebEndpointResponse.STATUS_OK, body);
  }

  private WebEndpointResponse<Object> report(
      ReportFormat format, @Nullable String metric, SiteQuery query) {
    ReportMetric figure =
        metric == null
            ? ReportMetric.LIVE_BYTES
            : Choice.of("metric", metric, ReportMetric.values(), ReportMetric::id);
    CallSites all = endpoint.mallometer().callSites();
    if (all.sites().isEmpty() && !all.reason().isEmpty()) {
      return json(NOT_IMPLEMENTED, new RefusalDescriptor(all.reason()));
    }
    CallSites chosen = query.chosen(all);
    return new WebEndpointResponse<>(
        new InputStreamResource(() -> ReportStream.of(out -> format.write(chosen, figure, out))),
        WebEndpointResponse.STATUS_OK,
        MimeType.valueOf(format.contentType()));
  }

  private static Optional<ReportFormat> format(String view) {
    return Arrays.stream(ReportFormat.values())
        .filter(format -> format.id().equals(view))
        .findFirst();
  }

  private static WebEndpointResponse<Object> json(int status, OperationResponseBody body) {
    return new WebEndpointResponse<>(body, status, JSON);
  }

  /**
   * Trims.
   *
   * @param view {@code trim}; anything else is 404
   * @return 200 if it was done, 429 if it was too early, 501 without the native library
   */
  @WriteOperation
  public WebEndpointResponse<TrimDescriptor> trim(@Selector String view) {
    @Nullable TrimDescriptor trim = endpoint.trim(view);
    return trim == null
        ? new WebEndpointResponse<>(WebEndpointResponse.STATUS_NOT_FOUND)
        : new WebEndpointResponse<>(trim, status(Outcome.valueOf(trim.outcome())));
  }

  private static int status(Outcome outcome) {
    return switch (outcome) {
      case DONE -> WebEndpointResponse.STATUS_OK;
      case REFUSED -> WebEndpointResponse.STATUS_TOO_MANY_REQUESTS;
      case UNSUPPORTED -> NOT_IMPLEMENTED;
    };
  }
}
