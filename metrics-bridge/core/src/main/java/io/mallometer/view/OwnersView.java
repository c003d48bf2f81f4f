package io.mallometer.view;

import io.mallometer.Mallometer;
import io.mallometer.model.Figure;
import io.mallometer.model.OwnerReport;
import java.util.Optional;

/**
 * The answer of {@code nativememory/owners}: whether the Java heap can be searched for the objects
 * that hold native memory, and the result of the latest search.
 */
public record OwnersView(
    @Figure("Whether a POST to owners/NUMBER is answered") boolean allowed,
    @Figure(value = "What a search would do", inline = true) OwnerReport.Outlook outlook,
    @Figure("The latest search that was done") Optional<OwnerReport> latest)
    implements View {

  static OwnersView of(Mallometer mallometer, boolean allowed) {
    return new OwnersView(
        allowed, mallometer.leaks().ownerOutlook(), mallometer.leaks().latestOwners());
  }
}
