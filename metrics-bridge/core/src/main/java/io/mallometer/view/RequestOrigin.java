package io.mallometer.view;

import io.mallometer.view.Answer.Outcome;
import io.mallometer.view.Answer.Told;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The origin of a request that changes something, as the browser reports it. It keeps pages of
 * other sites from making a viewer's browser trim the allocator or acknowledge a call site. A
 * program that is no browser sends no origin and is allowed.
 *
 * <p>If {@code Sec-Fetch-Site} is sent, it decides, because it does not depend on the host name,
 * which a proxy may change. Browsers omit it over plain HTTP to other machines; then {@code Origin}
 * must name the requested host.
 *
 * @param fetchSite the header {@code Sec-Fetch-Site}; null without it
 * @param origin the header {@code Origin}; null without it
 * @param host the requested host, with a port unless it is the scheme's default; null if unknown
 */
public record RequestOrigin(
    @Nullable String fetchSite, @Nullable String origin, @Nullable String host) {

  /** The header that tells how the sender's site relates to this one. */
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
   * Returns whether an origin names the requested host. Ignores the scheme, because a proxy may end
   * TLS.
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
