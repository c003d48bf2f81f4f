package io.mallometer.view;

import io.mallometer.Mallometer;
import io.mallometer.model.OwnerReport;
import java.util.Optional;

/**
 * What {@code nativememory/owners} answers: whether the Java heap can be searched for the objects
 * that hold native memory, and the latest search.
 *
 * @param allowed whether a POST to {@code owners/NUMBER} is answered at all
 * @param pauseSeconds for how long the first walk over the heap would stop the program, estimated
 * @param refusal why a search would be refused now; empty if it would not
 * @param latest the latest search that was done
 */
public record OwnersView(
    boolean allowed, double pauseSeconds, String refusal, Optional<OwnerReportView> latest)
    implements View {

  static OwnersView of(Mallometer mallometer, boolean allowed) {
    OwnerReport.Outlook outlook = mallometer.leaks().ownerOutlook();
    return new OwnersView(
        allowed,
        outlook.pauseSeconds(),
        outlook.refusal(),
        mallometer.leaks().latestOwners().map(OwnerReportView::of));
  }
}
