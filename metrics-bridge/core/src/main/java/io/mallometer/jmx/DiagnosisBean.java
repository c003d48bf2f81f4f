package io.mallometer.jmx;

import io.mallometer.Mallometer;
import io.mallometer.model.Diagnosis;
import java.util.List;

/** Answers the requests to {@link DiagnosisMXBean} from the latest snapshot. */
final class DiagnosisBean implements Described.OfDiagnosis {

  private final Mallometer mallometer;

  DiagnosisBean(Mallometer mallometer) {
    this.mallometer = mallometer;
  }

  @Override
  public String getSentence() {
    return diagnosis().sentence();
  }

  @Override
  public String getState() {
    return diagnosis().state().tag();
  }

  @Override
  public List<String> getToDo() {
    return diagnosis().actions();
  }

  private Diagnosis diagnosis() {
    return mallometer.scraped().diagnosis();
  }
}
