package io.mallometer.samples.leaky;

import java.util.Random;
import org.springframework.stereotype.Component;

/** Writes reports of invented orders. The same number always gives the same report. */
@Component
final class ReportWriter {
  private static final int CUSTOMERS = 40;
  private static final int ORDERS = 400;

  Report write(long number) {
    Random random = new Random(number);
    String customer = "customer-" + random.nextInt(CUSTOMERS);
    StringBuilder text = new StringBuilder(ORDERS * 64);
    for (int order = 0; order < ORDERS; order++) {
      text.append(number)
          .append('-')
          .append(order)
          .append('\t')
          .append(customer)
          .append("\titem ")
          .append(Integer.toHexString(random.nextInt()))
          .append('\t')
          .append(1 + random.nextInt(99))
          .append(" pieces\t")
          .append(random.nextInt(100_000) / 100.0)
          .append(" EUR\n");
    }
    return new Report(number, customer, text.toString());
  }
}
