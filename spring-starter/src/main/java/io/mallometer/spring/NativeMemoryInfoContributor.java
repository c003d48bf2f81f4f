package io.mallometer.spring;

import io.mallometer.Mallometer;
import org.springframework.boot.actuate.info.Info;
import org.springframework.boot.actuate.info.InfoContributor;

/** What counts native memory in this application, for the endpoint {@code info}. */
final class NativeMemoryInfoContributor implements InfoContributor {

  private final Mallometer mallometer;

  NativeMemoryInfoContributor(Mallometer mallometer) {
    this.mallometer = mallometer;
  }

  @Override
  public void contribute(Info.Builder builder) {
    builder.withDetail("nativeMemory", NativeMemoryDetails.info(mallometer.snapshot()));
  }
}
