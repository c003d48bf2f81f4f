package io.mallometer.spring;

import io.mallometer.TrimReport.Outcome;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

/** Answers to a trim by HTTP status what the body says in words. */
@EndpointWebExtension(endpoint = NativeMemoryEndpoint.class)
public final class NativeMemoryEndpointWebExtension {

  private static final int NOT_IMPLEMENTED = 501;

  private final NativeMemoryEndpoint endpoint;

  public NativeMemoryEndpointWebExtension(NativeMemoryEndpoint endpoint) {
    this.endpoint = endpoint;
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
