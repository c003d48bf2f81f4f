package io.mallometer.view;

import io.mallometer.view.Answer.Outcome;
import io.mallometer.view.Answer.Told;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The origin of a request that changes something, as the browser reports it. Requests from pages of
 * other sites are refused, so that such a page cannot make a viewer's browser trim the allocator or
 * acknowledge a call site. Programs other than browsers send no origin, and are allowed.
 *
 * <p>A request with {@code Sec-Fetch-Site} is judged by this header alone. The header does not
 * depend on the host name, which a proxy may change. Browsers omit {@code Sec-Fetch-Site} over
 * plain HTTP to other machines. Without this header, {@code Origin} must name the requested host.
 *
 * @param fetchSite the header {@code Sec-Fetch-Site}; null without it
 * @param origin the header {@code Origin}; null without it
 * @param host the requested host, with a port unless it is the scheme's default; null if unknown
 */
public record RequestOrigin(
    @Nullable String fetchSite, @Nullable String origin, @Nullable String host) {

  /**
   * The name of the header that tells whether the sender is a page of this site, of another site,
   * or no page.
   */
  public static final String FETCH_SITE = "Sec-Fetch-Site";

  /** The name of the header with the sender's origin. */
  public static final String ORIGIN = "Origin";

  /** Returns the refusal of a request from another origin; empty if the request is allowed. */
  public Optional<Told> refusal() {
    if (fetchSite != null) {
      return fetchSite.equals("same-origin") || fetchSite.equals("none")
          ? Optional.empty()
          : refused("a page of another origin (%s: %s)".formatted(FETCH_SITE, fetchSite));
    }
    return origin == null || isAsked(origin)
        ? Optional.empty()
        : refused("%s, not from %s".formatted(origin, host));
  }

  /**
   * Returns whether an origin names the requested host. Ignores the scheme, because a proxy may
   * terminate TLS.
   */
  private boolean isAsked(String origin) {
    int host = origin.indexOf("://");
    return host > 0 && origin.substring(host + "://".length()).equalsIgnoreCase(this.host);
  }

  private static Optional<Told> refused(String sender) {
    return Optional.of(
        Told.refused(
            Outcome.FORBIDDEN,
            "this request changes something and is refused, because it comes from " + sender));
  }
}
